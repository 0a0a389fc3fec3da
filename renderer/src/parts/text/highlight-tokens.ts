/** A run of characters and what it is in its language, such as `keyword`; empty for plain text. */
export interface Run {
  readonly text: string;
  readonly kind: string;
}

/** The lines of a text without colours. */
export function plainLines(text: string): readonly (readonly Run[])[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => [{ text: line, kind: '' }]);
}

const piece = /<span class="([^"]*)">|(<\/span>)|&(amp|lt|gt|quot|#x27);|([^<&]+)/g;
const letters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** Reads the markup of highlight.js, which is of spans alone, so that no parser of the page ever sees the text. */
export function runsOf(markup: string): readonly (readonly Run[])[] {
  const lines: Run[][] = [[]];
  const kinds: string[] = [];
  for (const [, opened, closed, entity, words] of markup.matchAll(piece)) {
    if (opened !== undefined) kinds.push(opened.replace(/^hljs-/, '').split(' ')[0] ?? '');
    else if (closed !== undefined) kinds.pop();
    else {
      const parts = (entity === undefined ? (words ?? '') : (letters[entity] ?? '')).split('\n');
      for (const [at, text] of parts.entries()) {
        if (at > 0) lines.push([]);
        if (text !== '') lines.at(-1)?.push({ text, kind: kinds.at(-1) ?? '' });
      }
    }
  }
  if (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
