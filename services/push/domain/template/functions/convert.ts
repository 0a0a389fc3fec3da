import { RunFault } from '../errors.ts';
import { Formatter, stringOf } from '../format/formatter.ts';
import type { Run } from '../run.ts';
import { Integer, kindOf, List, nilDereference, type Value } from '../values.ts';

const smallest = -(2n ** 63n);
const largest = 2n ** 63n - 1n;

/** A whole number of a text in a base; undefined for what is none, or does not fit 64 bits. */
export function readInteger(text: string, base: 8 | 10 = 10): bigint | undefined {
  const [, sign, digits] = (base === 8 ? /^([+-]?)([0-7]{1,25})$/ : /^([+-]?)(\d{1,25})$/).exec(text) ?? [];
  if (digits === undefined) return undefined;
  const size = BigInt(base === 8 ? `0o${digits}` : digits);
  const value = sign === '-' ? -size : size;
  return value < smallest || value > largest ? undefined : value;
}

/** As a whole number; what reads as none counts as 0. */
export function toInteger(value: Value): bigint {
  if (typeof value === 'string') return readInteger(value) ?? 0n;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (value instanceof Integer) return value.value;
  if (typeof value !== 'number') return 0n;
  const whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : smallest;
  return whole < smallest || whole > largest ? smallest : whole;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** As a float64; what reads as none counts as 0. */
export function toFloat(value: Value): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Integer) return Number(value.value);
  if (typeof value !== 'string') return 0;
  const named = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(value);
  if (named !== null) return named[2] === undefined ? NaN : named[1] === '-' ? -Infinity : Infinity;
  const read = decimal.test(value) ? Number(value) : 0;
  return Number.isFinite(read) ? read : 0;
}

/** As a text. */
export function toText(value: Value, run: Run): string {
  if (typeof value === 'string') return value;
  return stringOf(value) ?? new Formatter(run).write(value, 'v');
}

/** As a list of texts; what is nil is left out. */
export function toTexts(value: Value, run: Run): readonly string[] {
  if (value === null || value === undefined) return [];
  const items = value instanceof List ? value.items : [value];
  return items.filter((item) => item !== null && item !== undefined).map((item) => toText(item, run));
}

/** The list that a value is. `doing` is what the peer says it cannot do otherwise. @throws RunFault */
export function listOf(value: Value, doing: string, of = 'type '): readonly Value[] {
  if (value instanceof List) return value.items;
  if (value === null || value === undefined) throw nilDereference();
  throw new RunFault(`cannot ${doing} ${of}${kindOf(value)}`);
}
