/** Error for invalid CSV. */
export class CsvError extends Error {
  /** Line number, starting at 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Parses CSV (RFC 4180) line by line.
 *
 * @throws CsvError
 */
export function* csvRows(text: string, separator = ','): Generator<string[]> {
  const ends = new RegExp(`[${separator === '\t' ? '\\t' : separator}\\r\\n]`, 'g');
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let row: string[] = [];
  while (at < text.length || row.length > 0) {
    let field: string;
    if (text.charAt(at) === '"') {
      const end = closing(text, at);
      if (end < 0) throw new CsvError(lineOf(text, at), 'A quote is opened and never closed.');
      field = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      if (at < text.length && text.charAt(at) !== separator && !/[\r\n]/.test(text.charAt(at))) {
        throw new CsvError(
          lineOf(text, at),
          'Behind a quoted field comes neither a separator nor the end of the line.',
        );
      }
    } else {
      ends.lastIndex = at;
      const end = ends.exec(text)?.index ?? text.length;
      field = text.slice(at, end);
      at = end;
    }
    row.push(field);
    if (text.charAt(at) === separator) {
      at += 1;
      continue;
    }
    yield row;
    row = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
}

/** Returns the index of the closing quote; -1 when there is none. */
function closing(text: string, start: number): number {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0 || text.charAt(at + 1) !== '"') return at;
  }
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
