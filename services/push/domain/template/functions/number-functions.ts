import { ExecutionError } from '../errors.ts';
import { Formatter } from '../format/formatter.ts';
import { Integer, List, type Value } from '../values.ts';
import { parseInteger, toFloat, toInteger } from './convert.ts';
import { defineFunction, defineVariadic, type TemplateFunction } from './signature.ts';

const maxNumbers = 10_000;

function toInt64(value: bigint): Integer {
  return new Integer(value, 'int64');
}

function toDivisor(value: Value): bigint {
  const divisor = toInteger(value);
  if (divisor === 0n) throw new ExecutionError('division by zero');
  return divisor;
}

function getMaximum(first: Value, others: readonly Value[]): Integer {
  return toInt64(others.map(toInteger).reduce((a, b) => (b > a ? b : a), toInteger(first)));
}

/** Returns the numbers from start up or down to stop, exclusive. */
function createRange(start: number, stop: number, step: number): readonly number[] {
  if (step === 0 || stop < start !== step < 0) return [];
  const count = Math.ceil(Math.abs((stop - start) / step));
  if (count > maxNumbers) {
    throw new ExecutionError(`the range is too long: at most ${String(maxNumbers)} numbers, not ${String(count)}`);
  }
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function toIntegerList(values: readonly number[]): List {
  return new List(
    values.map((value) => new Integer(value)),
    'int',
    values.length === 0,
  );
}

function formatSequence(bounds: readonly number[]): string {
  const [first = 0, second = 0, third = 0] = bounds;
  if (bounds.length === 0 || bounds.length > 3) return '';
  const [start, stop] = bounds.length === 1 ? [1, first] : bounds.length === 2 ? [first, second] : [first, third];
  const isDescending = stop < start;
  const step = bounds.length === 3 ? second : isDescending ? -1 : 1;
  if (bounds.length === 3 && isDescending && step > 0) return '';
  return createRange(start, stop + (isDescending ? -1 : 1), step).join(' ');
}

function roundTo(value: number, places: number, threshold: number): number {
  const scale = 10 ** places;
  const scaled = scale * value;
  return (scaled - Math.trunc(scaled) >= threshold ? Math.ceil(scaled) : Math.floor(scaled)) / scale;
}

function defineFold(call: (a: number, b: number) => number): TemplateFunction {
  return defineVariadic(['any'], 'any', ([first], others) =>
    others.map(toFloat).reduce((a, b) => call(a, b), toFloat(first)),
  );
}

/** Sprig's arithmetic: plain names use integers, names with an f use floats. */
export const numberFunctions: Readonly<Record<string, TemplateFunction>> = {
  add: defineVariadic([], 'any', (_none, values) => toInt64(values.map(toInteger).reduce((a, b) => a + b, 0n))),
  add1: defineFunction(['any'], ([value]) => toInt64(toInteger(value) + 1n)),
  sub: defineFunction(['any', 'any'], ([a, b]) => toInt64(toInteger(a) - toInteger(b))),
  mul: defineVariadic(['any'], 'any', ([first], others) =>
    toInt64(others.map(toInteger).reduce((a, b) => BigInt.asIntN(64, a * b), toInteger(first))),
  ),
  div: defineFunction(['any', 'any'], ([a, b]) => toInt64(toInteger(a) / toDivisor(b))),
  mod: defineFunction(['any', 'any'], ([a, b]) => toInt64(toInteger(a) % toDivisor(b))),
  max: defineVariadic(['any'], 'any', ([first], others) => getMaximum(first, others)),
  biggest: defineVariadic(['any'], 'any', ([first], others) => getMaximum(first, others)),
  min: defineVariadic(['any'], 'any', ([first], others) =>
    toInt64(others.map(toInteger).reduce((a, b) => (b < a ? b : a), toInteger(first))),
  ),
  maxf: defineFold(Math.max),
  minf: defineFold(Math.min),
  addf: defineFold((a, b) => a + b),
  subf: defineFold((a, b) => a - b),
  mulf: defineFold((a, b) => a * b),
  divf: defineFold((a, b) => a / b),
  floor: defineFunction(['any'], ([value]) => Math.floor(toFloat(value))),
  ceil: defineFunction(['any'], ([value]) => Math.ceil(toFloat(value))),
  round: defineVariadic(['any', 'int'], 'float64', ([value, places], [from = 0.5]) =>
    roundTo(toFloat(value), places, from),
  ),
  randInt: defineFunction(['int', 'int'], ([from, to], { environment }) => {
    if (to <= from) throw new ExecutionError('invalid argument to Intn');
    return new Integer(from + Math.floor(environment.random() * (to - from)));
  }),
  int: defineFunction(['any'], ([value]) => new Integer(toInteger(value))),
  int64: defineFunction(['any'], ([value]) => toInt64(toInteger(value))),
  float64: defineFunction(['any'], ([value]) => toFloat(value)),
  atoi: defineFunction(['string'], ([text]) => new Integer(parseInteger(text) ?? 0n)),
  toDecimal: defineFunction(['any'], ([value], run) =>
    toInt64(parseInteger(new Formatter(run).write(value, 'v'), 8) ?? 0n),
  ),
  seq: defineVariadic([], 'int', (_none, bounds) => formatSequence(bounds)),
  until: defineFunction(['int'], ([count]) => toIntegerList(createRange(0, count, count < 0 ? -1 : 1))),
  untilStep: defineFunction(['int', 'int', 'int'], ([start, stop, step]) =>
    toIntegerList(createRange(start, stop, step)),
  ),
};
