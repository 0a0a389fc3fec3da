import type { ParsedStream } from '../stream.ts';

/** What an expression is about. */
export type Value = string | number | boolean | ParsedStream | readonly Value[];

/** Which rules further on a stream is spared by an expression, and where one pins it; by the ids of streams. */
export interface Marks {
  readonly spared: Map<string, ReadonlySet<string>>;
  readonly pinned: Map<string, 'top' | 'bottom'>;
}

/** What an expression can name, and how much it may do. */
export interface Scope {
  readonly names: Readonly<Record<string, Value>>;
  readonly marks: Marks;
  /** Functions of the place it stands in, beside those every expression has. */
  readonly functions?: Readonly<Record<string, ExpressionFunction>>;
  readonly budget: Budget;
}

/** Counts down with everything that is looked at; shared by all expressions of a request. */
export interface Budget {
  left: number;
}

/** What the expressions of one request may do, untouched. */
export function budgetOf(): Budget {
  return { left: mostLooks };
}

/** @throws ExpressionError for arguments it cannot use. */
export type ExpressionFunction = (given: readonly Value[], scope: Scope) => Value;

/** What is wrong with an expression, or what it does wrong, as a sentence. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/** As many looks at streams as the expressions of one request may take altogether. */
const mostLooks = 4_000_000;

/** A scope nothing was done in yet. */
export function scopeOf(names: Scope['names'], budget = budgetOf()): Scope {
  return { names, marks: { spared: new Map(), pinned: new Map() }, budget };
}

/** The streams of a list. @throws ExpressionError for anything else. */
export function streamsIn(value: Value): readonly ParsedStream[] {
  if (!isList(value)) throw new ExpressionError('A list of streams is expected.');
  for (const item of value)
    if (typeof item !== 'object' || isList(item)) throw new ExpressionError('A list of streams is expected.');
  return value as readonly ParsedStream[];
}

const longestPrinted = 300;

/** A value as sentences have it. Streams, with the keys in their addresses, never are. */
export function printed(value: Value): string {
  if (isList(value)) return 'A list';
  if (typeof value === 'object') return 'A stream';
  const text = JSON.stringify(value);
  return text.length > longestPrinted ? `${text.slice(0, longestPrinted)}…` : text;
}

/** Whether a value is a list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Takes from what an expression may do. @throws ExpressionError when nothing is left. */
export function spend({ budget }: Pick<Scope, 'budget'>, looks: number): void {
  budget.left -= looks;
  if (budget.left < 0) throw new ExpressionError('The expressions look at too much.');
}
