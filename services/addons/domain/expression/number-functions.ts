import { ExpressionError, isList, type ExpressionFunction, type Value } from './value.ts';

/** Functions for a list of numbers or several numbers. The result for an empty list is 0. */
export const numberFunctions: Readonly<Record<string, ExpressionFunction>> = {
  count: ([list = []]) => (isList(list) ? list.length : 0),
  max: of((numbers) => numbers.reduce((one, other) => Math.max(one, other))),
  min: of((numbers) => numbers.reduce((one, other) => Math.min(one, other))),
  sum: of(sum),
  avg: of(mean),
  mean: of(mean),
  median: of((numbers) => percentile(numbers, 50)),
  q1: of((numbers) => percentile(numbers, 25)),
  q2: of((numbers) => percentile(numbers, 50)),
  q3: of((numbers) => percentile(numbers, 75)),
  iqr: of((numbers) => percentile(numbers, 75) - percentile(numbers, 25)),
  range: of((numbers) => {
    const sorted = numbers.toSorted((one, other) => one - other);
    return (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  }),
  variance: of((numbers) => moment(numbers, 2)),
  stddev: of(deviation),
  mode: of((numbers) => {
    const counts = Map.groupBy(numbers, (number) => number);
    return [...counts].reduce((one, other) => (other[1].length > one[1].length ? other : one))[0];
  }),
  skewness: of((numbers) => (deviation(numbers) === 0 ? 0 : moment(numbers, 3) / deviation(numbers) ** 3)),
  kurtosis: of((numbers) => (deviation(numbers) === 0 ? 0 : moment(numbers, 4) / deviation(numbers) ** 4 - 3)),
  percentile: (given) => {
    const part = given.at(-1);
    if (typeof part !== 'number') throw new ExpressionError('percentile() needs a percentage.');
    const numbers = numbersOf(given.slice(0, -1));
    return numbers.length === 0 ? 0 : percentile(numbers, Math.min(100, Math.max(0, part)));
  },
};

function of(reduce: (numbers: readonly number[]) => number): ExpressionFunction {
  return (given) => {
    const numbers = numbersOf(given);
    return numbers.length === 0 ? 0 : reduce(numbers);
  };
}

function numbersOf(given: readonly Value[]): readonly number[] {
  const [first] = given;
  const list = given.length === 1 && first !== undefined && isList(first) ? first : given;
  return list.map((value) => {
    if (typeof value !== 'number') throw new ExpressionError('Numbers are expected, such as values(streams, "size").');
    return value;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}

function moment(numbers: readonly number[], power: number): number {
  const middle = mean(numbers);
  return sum(numbers.map((number) => (number - middle) ** power)) / numbers.length;
}

function deviation(numbers: readonly number[]): number {
  return Math.sqrt(moment(numbers, 2));
}

/** Interpolates between the two nearest values, as spreadsheets do. */
function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const place = (part / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
