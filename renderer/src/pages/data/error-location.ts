/** Where in the statements PostgreSQL stumbled. */
export interface ErrorPlace {
  /** From 1. */
  readonly line: number;
  /** That line, cut around the place where it is long. */
  readonly text: string;
  /** Of the word in that text. */
  readonly from: number;
  readonly to: number;
  /** Of the word in all of the statements. */
  readonly start: number;
  readonly end: number;
}

/** So much of a line is shown on either side of the word. */
const around = 60;

/** Finds the word at a position as PostgreSQL counts it: characters from 1, not the halves that strings here are made of. */
export function errorPlace(statements: string, position: number): ErrorPlace {
  const start = [...statements].slice(0, position - 1).join('').length;
  const word = /^(?:\w+|"[^"\n]*"|'[^'\n]*'|\S)/u.exec(statements.slice(start))?.[0] ?? '';
  const end = start + word.length;
  const begin = statements.lastIndexOf('\n', start - 1) + 1;
  const stop = statements.indexOf('\n', start);
  const line = statements.slice(0, start).split('\n').length;
  const whole = statements.slice(begin, stop === -1 ? undefined : stop);
  const [from, to] = [start - begin, end - begin];
  const left = Math.max(0, from - around);
  const right = Math.min(whole.length, to + around);
  const text = `${left > 0 ? '…' : ''}${whole.slice(left, right)}${right < whole.length ? '…' : ''}`;
  const shift = (left > 0 ? 1 : 0) - left;
  return { line, text, from: from + shift, to: to + shift, start, end };
}
