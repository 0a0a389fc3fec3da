import { TextError } from '../text-error.ts';
import * as m from '#messages/addons-problems';
import type { ParsedStream } from '../stream.ts';

/** Value in an expression. */
export type Value = string | number | boolean | ParsedStream | readonly Value[];

/** Exemptions and pinned positions that expressions assign, by stream ID. */
export interface ExpressionEffects {
  readonly exemptions: Map<string, ReadonlySet<string>>;
  readonly pinned: Map<string, 'top' | 'bottom'>;
}

/** Variables, functions and budget of an expression. */
export interface Scope {
  readonly variables: Readonly<Record<string, Value>>;
  readonly effects: ExpressionEffects;
  /** Additional functions of the context. */
  readonly functions?: Readonly<Record<string, ExpressionFunction>>;
  readonly budget: Budget;
}

/** Remaining work of all expressions of a request. */
export interface Budget {
  remaining: number;
}

/** Creates the budget for the expressions of one request. */
export function createBudget(): Budget {
  return { remaining: maxVisits };
}

/**
 * Function of the expression language.
 *
 * @throws ExpressionError for invalid arguments.
 */
export type ExpressionFunction = (args: readonly Value[], scope: Scope) => Value;

/** Problem of an expression with a message for users. */
export class ExpressionError extends TextError {
  override readonly name = 'ExpressionError';
}

/** Maximum number of streams that all expressions of a request may visit. */
const maxVisits = 4_000_000;

/** Creates an empty scope. */
export function createScope(variables: Scope['variables'], budget = createBudget()): Scope {
  return { variables, effects: { exemptions: new Map(), pinned: new Map() }, budget };
}

/**
 * Converts a value to a list of streams.
 *
 * @throws ExpressionError for other values.
 */
export function toStreams(value: Value): readonly ParsedStream[] {
  if (!isList(value)) throw new ExpressionError(m.streamListExpected);
  for (const item of value)
    if (typeof item !== 'object' || isList(item)) throw new ExpressionError(m.streamListExpected);
  return value as readonly ParsedStream[];
}

const maxPrintedLength = 300;

/** Formats a value for messages. Streams are never printed, because their addresses may contain keys. */
export function formatValue(value: Value): string {
  if (isList(value)) return m.list();
  if (typeof value === 'object') return m.stream();
  const text = JSON.stringify(value);
  return text.length > maxPrintedLength ? `${text.slice(0, maxPrintedLength)}…` : text;
}

/** Returns true when a value is a list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/**
 * Reduces the budget.
 *
 * @throws ExpressionError when it is exhausted.
 */
export function consumeBudget({ budget }: Pick<Scope, 'budget'>, visits: number): void {
  budget.remaining -= visits;
  if (budget.remaining < 0) throw new ExpressionError(m.expressionsTooLarge);
}
