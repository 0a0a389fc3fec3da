import * as m from '#messages/data-problems';

/** Error for invalid CSV; its message is a text for users with the line number, which starts at 1. */
export class CsvError extends Error {}

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
      if (end < 0) throw new CsvError(m.csvQuoteNotClosed({ line: getLine(text, index) }));
      field = text.slice(index + 1, end).replaceAll('""', '"');
      index = end + 1;
      if (index < text.length && text.charAt(index) !== separator && !/[\r\n]/.test(text.charAt(index))) {
        throw new CsvError(m.csvTextAfterQuote({ line: getLine(text, index) }));
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
