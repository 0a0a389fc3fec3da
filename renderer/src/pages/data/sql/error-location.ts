/** Location of an error in the statements. */
export interface ErrorLocation {
  /** 1-based line number. */
  readonly line: number;
  /** Line with the error, shortened around the error if it is long. */
  readonly text: string;
  /** Range of the word in `text`. */
  readonly from: number;
  readonly to: number;
  /** Range of the word in all statements. */
  readonly start: number;
  readonly end: number;
}

/** Number of characters shown on each side of the word. */
const contextLength = 60;

/** Finds the word at a PostgreSQL error position, which counts characters from 1, not UTF-16 code units. */
export function locateError(statements: string, position: number): ErrorLocation {
  const start = [...statements].slice(0, position - 1).join('').length;
  const word = /^(?:\w+|"[^"\n]*"|'[^'\n]*'|\S)/u.exec(statements.slice(start))?.[0] ?? '';
  const end = start + word.length;
  const lineStart = statements.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = statements.indexOf('\n', start);
  const line = statements.slice(0, start).split('\n').length;
  const fullLine = statements.slice(lineStart, lineEnd === -1 ? undefined : lineEnd);
  const [from, to] = [start - lineStart, end - lineStart];
  const contextStart = Math.max(0, from - contextLength);
  const contextEnd = Math.min(fullLine.length, to + contextLength);
  const text = `${contextStart > 0 ? '…' : ''}${fullLine.slice(contextStart, contextEnd)}${contextEnd < fullLine.length ? '…' : ''}`;
  const shift = (contextStart > 0 ? 1 : 0) - contextStart;
  return { line, text, from: from + shift, to: to + shift, start, end };
}
