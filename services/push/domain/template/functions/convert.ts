import { ExecutionError } from '../errors.ts';
import { Formatter, callString } from '../format/formatter.ts';
import type { TemplateRun } from '../run.ts';
import { Integer, getKind, List, createNilError, type Value } from '../values.ts';

const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** Parses an integer in a base; undefined when invalid or beyond 64 bits. */
export function parseInteger(text: string, base: 8 | 10 = 10): bigint | undefined {
  const [, sign, digits] = (base === 8 ? /^([+-]?)([0-7]{1,25})$/ : /^([+-]?)(\d{1,25})$/).exec(text) ?? [];
  if (digits === undefined) return undefined;
  const magnitude = BigInt(base === 8 ? `0o${digits}` : digits);
  const value = sign === '-' ? -magnitude : magnitude;
  return value < minInt64 || value > maxInt64 ? undefined : value;
}

/** Converts to an integer; invalid values become 0. */
export function toInteger(value: Value): bigint {
  if (typeof value === 'string') return parseInteger(value) ?? 0n;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (value instanceof Integer) return value.value;
  if (typeof value !== 'number') return 0n;
  const truncated = Number.isFinite(value) ? BigInt(Math.trunc(value)) : minInt64;
  return truncated < minInt64 || truncated > maxInt64 ? minInt64 : truncated;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Converts to a float64; invalid values become 0. */
export function toFloat(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Integer) return Number(value.value);
  if (typeof value !== 'string') return 0;
  const special = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(value);
  if (special !== null) return special[2] === undefined ? NaN : special[1] === '-' ? -Infinity : Infinity;
  const parsed = decimal.test(value) ? Number(value) : 0;
  return Number.isFinite(parsed) ? parsed : 0;
}

/** Converts to text. */
export function toText(value: Value, run: TemplateRun): string {
  if (typeof value === 'string') return value;
  return callString(value) ?? new Formatter(run).write(value, 'v');
}

/** Converts to a list of texts, without nil. */
export function toTexts(value: Value, run: TemplateRun): readonly string[] {
  if (value === null || value === undefined) return [];
  const items = value instanceof List ? value.items : [value];
  return items.filter((item) => item !== null && item !== undefined).map((item) => toText(item, run));
}

/**
 * Returns the items of a list. `operation` and `prefix` are part of Go's error message.
 *
 * @throws ExecutionError
 */
export function toItems(value: Value, operation: string, prefix = 'type '): readonly Value[] {
  if (value instanceof List) return value.items;
  if (value === null || value === undefined) throw createNilError();
  throw new ExecutionError(`cannot ${operation} ${prefix}${getKind(value)}`);
}
