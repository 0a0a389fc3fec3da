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
export function* parseCsvRows(text: string, separator = ','): Generator<string[]> {
  const fieldEnd = new RegExp(`[${separator === '\t' ? '\\t' : separator}\\r\\n]`, 'g');
  let index = text.startsWith('\uFEFF') ? 1 : 0;
  let row: string[] = [];
  while (index < text.length || row.length > 0) {
    let field: string;
    if (text.charAt(index) === '"') {
      const end = findClosingQuote(text, index);
      if (end < 0) throw new CsvError(getLine(text, index), 'A quote is opened and never closed.');
      field = text.slice(index + 1, end).replaceAll('""', '"');
      index = end + 1;
      if (index < text.length && text.charAt(index) !== separator && !/[\r\n]/.test(text.charAt(index))) {
        throw new CsvError(
          getLine(text, index),
          'Behind a quoted field comes neither a separator nor the end of the line.',
        );
      }
    } else {
      fieldEnd.lastIndex = index;
      const end = fieldEnd.exec(text)?.index ?? text.length;
      field = text.slice(index, end);
      index = end;
    }
    row.push(field);
    if (text.charAt(index) === separator) {
      index += 1;
      continue;
    }
    yield row;
    row = [];
    index += text.startsWith('\r\n', index) ? 2 : 1;
  }
}

/** Returns the index of the closing quote; -1 when there is none. */
function findClosingQuote(text: string, start: number): number {
  for (let index = start + 1; ; index += 2) {
    index = text.indexOf('"', index);
    if (index < 0 || text.charAt(index + 1) !== '"') return index;
  }
}

function getLine(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
