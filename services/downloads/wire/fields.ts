import { Problem } from '../../contracts/problem.ts';

/** Unvalidated JSON body. */
export type Fields = Readonly<Record<string, unknown>>;

/** Maximum number of downloads in a request: more than a page of MeTube shows; a statement takes 32,766 parameters. */
export const maxIds = 20_000;
/** Maximum number of retries in a request; each retry probes a site. */
export const maxRetries = 1000;

/** Creates a validation error with status 400. */
export function createRequestProblem(message: string): Problem {
  return new Problem('downloads.bad_request', 400, message);
}

/**
 * Parses one of the allowed values, case-insensitively.
 * @throws Problem 400 with MeTube's message
 */
export function parseChoice<T extends string>(value: unknown, field: string, allowed: readonly T[]): T {
  const choice = allowed.find((each) => each === toLowerText(value));
  if (choice === undefined) throw createRequestProblem(`${field} must be one of ${formatList(allowed)}`);
  return choice;
}

/** Formats a list in Python's notation, as in MeTube's messages. */
export function formatList(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(', ')}]`;
}

export function toLowerText(value: unknown): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : typeof value === 'number' ? String(value) : '';
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Parses a text of at most 500 characters, trimmed; "" when it is missing. */
export function readText(value: unknown, field: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string' || value.length > 500)
    throw createRequestProblem(`${field} must be a string of at most 500 characters`);
  return value.trim();
}
