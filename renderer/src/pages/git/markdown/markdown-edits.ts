/** Text of a field with its selection. */
export interface EditedText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type MarkdownFormat =
  | 'heading'
  | 'bold'
  | 'italic'
  | 'quote'
  | 'code'
  | 'link'
  | 'list'
  | 'numberedList'
  | 'taskList'
  | 'mention'
  | 'reference';

/** Replacement of a part of a text, and the selection afterwards. */
export interface MarkdownEdit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  readonly start: number;
  readonly end: number;
}

const linePrefixes: Partial<Record<MarkdownFormat, (index: number) => string>> = {
  heading: () => '### ',
  quote: () => '> ',
  list: () => '- ',
  numberedList: (index) => `${index + 1}. `,
  taskList: () => '- [ ] ',
};

/** Existing prefix of a line in each format, which a second use of the format removes. */
const prefixPatterns: Partial<Record<MarkdownFormat, RegExp>> = {
  heading: /^#{1,6} /,
  quote: /^> ?/,
  list: /^[-*] (?!\[[ xX]\] )/,
  numberedList: /^\d+\. /,
  taskList: /^[-*] \[[ xX]\] /,
};

/** Applies a format to the selection, or removes it where it is applied already. */
export function formatMarkdown(format: MarkdownFormat, edited: EditedText): MarkdownEdit {
  const prefix = linePrefixes[format];
  if (prefix !== undefined) return formatLines(edited, prefix, prefixPatterns[format] ?? /^$/);
  const selection = edited.text.slice(edited.start, edited.end);
  switch (format) {
    case 'bold':
      return wrap(edited, '**');
    case 'italic':
      return wrap(edited, '_');
    case 'code':
      return selection.includes('\n') ? fence(edited) : wrap(edited, '`');
    case 'link':
      return insertLink(edited);
    case 'mention':
      return insertBefore(edited, '@');
    default:
      return insertBefore(edited, '#');
  }
}

function wrap({ text, start, end }: EditedText, marker: string): MarkdownEdit {
  const [before, after] = [text.slice(start - marker.length, start), text.slice(end, end + marker.length)];
  const selection = text.slice(start, end);
  if (before === marker && after === marker) {
    const from = start - marker.length;
    return { from, to: end + marker.length, insert: selection, start: from, end: from + selection.length };
  }
  return {
    from: start,
    to: end,
    insert: `${marker}${selection}${marker}`,
    start: start + marker.length,
    end: end + marker.length,
  };
}

function fence({ text, start, end }: EditedText): MarkdownEdit {
  const selection = text.slice(start, end).replace(/\n$/, '');
  const open = `${start > 0 && text[start - 1] !== '\n' ? '\n' : ''}\`\`\`\n`;
  return {
    from: start,
    to: end,
    insert: `${open}${selection}\n\`\`\`\n`,
    start: start + open.length,
    end: start + open.length + selection.length,
  };
}

/** A selected address becomes the target, any other selection the text of the link. */
function insertLink({ text, start, end }: EditedText): MarkdownEdit {
  const selection = text.slice(start, end);
  if (/^https?:\/\/\S+$/.test(selection))
    return { from: start, to: end, insert: `[](${selection})`, start: start + 1, end: start + 1 };
  const target = start + selection.length + 3;
  return { from: start, to: end, insert: `[${selection}](https://)`, start: target, end: target + 'https://'.length };
}

function insertBefore({ text, start, end }: EditedText, marker: string): MarkdownEdit {
  const space = start > 0 && !/\s/.test(text[start - 1] ?? '') ? ' ' : '';
  const insert = `${space}${marker}${text.slice(start, end)}`;
  return { from: start, to: end, insert, start: start + insert.length, end: start + insert.length };
}

function formatLines(
  { text, start, end }: EditedText,
  getPrefix: (index: number) => string,
  existing: RegExp,
): MarkdownEdit {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = text.indexOf('\n', end);
  const to = lineEnd < 0 ? text.length : lineEnd;
  const lines = text.slice(from, to).split('\n');
  const isApplied = lines.every((line) => existing.test(line));
  const insert = lines
    .map((line, index) => (isApplied ? line.replace(existing, '') : `${getPrefix(index)}${line}`))
    .join('\n');
  const isCaret = start === end && lines.length === 1;
  const last = from + insert.length;
  const caret = Math.max(from, start + insert.length - (to - from));
  return { from, to, insert, start: isCaret ? caret : from, end: isCaret ? caret : last };
}
