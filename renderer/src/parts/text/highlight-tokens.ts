/** A token of code and its kind, such as `keyword`; empty for plain text. */
export interface Token {
  readonly text: string;
  readonly kind: string;
  /** The text differs from the other version of the line. */
  readonly isChanged?: boolean;
}

/** Splits a text into lines without highlighting. */
export function plainLines(text: string): readonly (readonly Token[])[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => [{ text: line, kind: '' }]);
}

const markupPattern = /<span class="([^"]*)">|(<\/span>)|&(amp|lt|gt|quot|#x27);|([^<&]+)/g;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/**
 * Parses the markup of highlight.js, which only has span elements, so that no HTML parser of the page processes the
 * text.
 */
export function parseHighlightMarkup(markup: string): readonly (readonly Token[])[] {
  const lines: Token[][] = [[]];
  const kinds: string[] = [];
  for (const [, opened, closed, entity, plainText] of markup.matchAll(markupPattern)) {
    if (opened !== undefined) kinds.push(opened.replace(/^hljs-/, '').split(' ')[0] ?? '');
    else if (closed !== undefined) kinds.pop();
    else {
      const parts = (entity === undefined ? (plainText ?? '') : (entities[entity] ?? '')).split('\n');
      for (const [index, text] of parts.entries()) {
        if (index > 0) lines.push([]);
        if (text !== '') lines.at(-1)?.push({ text, kind: kinds.at(-1) ?? '' });
      }
    }
  }
  if (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
