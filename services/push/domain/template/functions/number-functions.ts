import { RunFault } from '../errors.ts';
import { Formatter } from '../format/formatter.ts';
import { Integer, List, type Value } from '../values.ts';
import { readInteger, toFloat, toInteger } from './convert.ts';
import { takes, takesMore, type TemplateFunction } from './signature.ts';

const mostNumbers = 10_000;

function int64(value: bigint): Integer {
  return new Integer(value, 'int64');
}

function divisor(value: Value): bigint {
  const read = toInteger(value);
  if (read === 0n) throw new RunFault('division by zero');
  return read;
}

function largest(first: Value, others: readonly Value[]): Integer {
  return int64(others.map(toInteger).reduce((a, b) => (b > a ? b : a), toInteger(first)));
}

/** From a number up or down to another one, which is left out. */
function numbers(start: number, stop: number, step: number): readonly number[] {
  if (step === 0 || stop < start !== step < 0) return [];
  const count = Math.ceil(Math.abs((stop - start) / step));
  if (count > mostNumbers) {
    throw new RunFault(`the range is too long: at most ${String(mostNumbers)} numbers, not ${String(count)}`);
  }
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function integers(values: readonly number[]): List {
  return new List(
    values.map((value) => new Integer(value)),
    'int',
    values.length === 0,
  );
}

function sequence(given: readonly number[]): string {
  const [first = 0, second = 0, third = 0] = given;
  if (given.length === 0 || given.length > 3) return '';
  const [start, stop] = given.length === 1 ? [1, first] : given.length === 2 ? [first, second] : [first, third];
  const down = stop < start;
  const step = given.length === 3 ? second : down ? -1 : 1;
  if (given.length === 3 && down && step > 0) return '';
  return numbers(start, stop + (down ? -1 : 1), step).join(' ');
}

function rounded(value: number, places: number, from: number): number {
  const scale = 10 ** places;
  const scaled = scale * value;
  return (scaled - Math.trunc(scaled) >= from ? Math.ceil(scaled) : Math.floor(scaled)) / scale;
}

function folded(call: (a: number, b: number) => number): TemplateFunction {
  return takesMore(['any'], 'any', ([first], others) =>
    others.map(toFloat).reduce((a, b) => call(a, b), toFloat(first)),
  );
}

/** Sprig's arithmetic: the plain names work on whole numbers, those with an f on any. */
export const numberFunctions: Readonly<Record<string, TemplateFunction>> = {
  add: takesMore([], 'any', (_none, values) => int64(values.map(toInteger).reduce((a, b) => a + b, 0n))),
  add1: takes(['any'], ([value]) => int64(toInteger(value) + 1n)),
  sub: takes(['any', 'any'], ([a, b]) => int64(toInteger(a) - toInteger(b))),
  mul: takesMore(['any'], 'any', ([first], others) =>
    int64(others.map(toInteger).reduce((a, b) => BigInt.asIntN(64, a * b), toInteger(first))),
  ),
  div: takes(['any', 'any'], ([a, b]) => int64(toInteger(a) / divisor(b))),
  mod: takes(['any', 'any'], ([a, b]) => int64(toInteger(a) % divisor(b))),
  max: takesMore(['any'], 'any', ([first], others) => largest(first, others)),
  biggest: takesMore(['any'], 'any', ([first], others) => largest(first, others)),
  min: takesMore(['any'], 'any', ([first], others) =>
    int64(others.map(toInteger).reduce((a, b) => (b < a ? b : a), toInteger(first))),
  ),
  maxf: folded(Math.max),
  minf: folded(Math.min),
  addf: folded((a, b) => a + b),
  subf: folded((a, b) => a - b),
  mulf: folded((a, b) => a * b),
  divf: folded((a, b) => a / b),
  floor: takes(['any'], ([value]) => Math.floor(toFloat(value))),
  ceil: takes(['any'], ([value]) => Math.ceil(toFloat(value))),
  round: takesMore(['any', 'int'], 'float64', ([value, places], [from = 0.5]) => rounded(toFloat(value), places, from)),
  randInt: takes(['int', 'int'], ([from, to], { surroundings }) => {
    if (to <= from) throw new RunFault('invalid argument to Intn');
    return new Integer(from + Math.floor(surroundings.random() * (to - from)));
  }),
  int: takes(['any'], ([value]) => new Integer(toInteger(value))),
  int64: takes(['any'], ([value]) => int64(toInteger(value))),
  float64: takes(['any'], ([value]) => toFloat(value)),
  atoi: takes(['string'], ([text]) => new Integer(readInteger(text) ?? 0n)),
  toDecimal: takes(['any'], ([value], run) => int64(readInteger(new Formatter(run).write(value, 'v'), 8) ?? 0n)),
  seq: takesMore([], 'int', (_none, given) => sequence(given)),
  until: takes(['int'], ([count]) => integers(numbers(0, count, count < 0 ? -1 : 1))),
  untilStep: takes(['int', 'int', 'int'], ([start, stop, step]) => integers(numbers(start, stop, step))),
};
