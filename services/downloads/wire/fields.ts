import { Problem } from '../../contracts/problem.ts';

/** A JSON body, unchecked. */
export type Fields = Readonly<Record<string, unknown>>;

/** Downloads that one request may name: more than a page of the peer shows; a statement takes 32,766 parameters. */
export const mostIds = 20_000;
/** Each retry is a look at a site. */
export const mostRetries = 1000;

/** A validation error: 400 with this sentence. */
export function bad(message: string): Problem {
  return new Problem('downloads.bad_request', 400, message);
}

/** One of the allowed words, whatever its case. @throws Problem 400 with the peer's own sentence. */
export function oneOf<T extends string>(value: unknown, field: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === lower(value));
  if (found === undefined) throw bad(`${field} must be one of ${list(allowed)}`);
  return found;
}

/** The peer is written in Python and shows its lists so. */
export function list(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(', ')}]`;
}

export function lower(value: unknown): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : typeof value === 'number' ? String(value) : '';
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Text of at most 500 characters, trimmed; "" when there is none. */
export function readText(value: unknown, field: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string' || value.length > 500) throw bad(`${field} must be a string of at most 500 characters`);
  return value.trim();
}
