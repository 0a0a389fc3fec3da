import * as m from '#messages/addons-problems';
import { ExpressionError, isList, type ExpressionFunction, type Value } from './value.ts';

/** Functions for a list of numbers or several numbers. The result for an empty list is 0. */
export const numberFunctions: Readonly<Record<string, ExpressionFunction>> = {
  count: ([list = []]) => (isList(list) ? list.length : 0),
  max: onNumbers((numbers) => numbers.reduce((a, b) => Math.max(a, b))),
  min: onNumbers((numbers) => numbers.reduce((a, b) => Math.min(a, b))),
  sum: onNumbers(sum),
  avg: onNumbers(mean),
  mean: onNumbers(mean),
  median: onNumbers((numbers) => percentile(numbers, 50)),
  q1: onNumbers((numbers) => percentile(numbers, 25)),
  q2: onNumbers((numbers) => percentile(numbers, 50)),
  q3: onNumbers((numbers) => percentile(numbers, 75)),
  iqr: onNumbers((numbers) => percentile(numbers, 75) - percentile(numbers, 25)),
  range: onNumbers((numbers) => {
    const sorted = numbers.toSorted((a, b) => a - b);
    return (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  }),
  variance: onNumbers((numbers) => centralMoment(numbers, 2)),
  stddev: onNumbers(standardDeviation),
  mode: onNumbers((numbers) => {
    const counts = Map.groupBy(numbers, (number) => number);
    return [...counts].reduce((a, b) => (b[1].length > a[1].length ? b : a))[0];
  }),
  skewness: onNumbers((numbers) =>
    standardDeviation(numbers) === 0 ? 0 : centralMoment(numbers, 3) / standardDeviation(numbers) ** 3,
  ),
  kurtosis: onNumbers((numbers) =>
    standardDeviation(numbers) === 0 ? 0 : centralMoment(numbers, 4) / standardDeviation(numbers) ** 4 - 3,
  ),
  percentile: (args) => {
    const percentage = args.at(-1);
    if (typeof percentage !== 'number') throw new ExpressionError(m.percentileRequiresPercentage);
    const numbers = requireNumbers(args.slice(0, -1));
    return numbers.length === 0 ? 0 : percentile(numbers, Math.min(100, Math.max(0, percentage)));
  },
};

function onNumbers(reduce: (numbers: readonly number[]) => number): ExpressionFunction {
  return (args) => {
    const numbers = requireNumbers(args);
    return numbers.length === 0 ? 0 : reduce(numbers);
  };
}

function requireNumbers(args: readonly Value[]): readonly number[] {
  const [firstArgument] = args;
  const list = args.length === 1 && firstArgument !== undefined && isList(firstArgument) ? firstArgument : args;
  return list.map((value) => {
    if (typeof value !== 'number') throw new ExpressionError(m.numbersExpected);
    return value;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}

function centralMoment(numbers: readonly number[], power: number): number {
  const average = mean(numbers);
  return sum(numbers.map((number) => (number - average) ** power)) / numbers.length;
}

function standardDeviation(numbers: readonly number[]): number {
  return Math.sqrt(centralMoment(numbers, 2));
}

/** Interpolates between the two nearest values, as spreadsheets do. */
function percentile(numbers: readonly number[], percentage: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const position = (percentage / 100) * (sorted.length - 1);
  const lower = sorted[Math.floor(position)] ?? 0;
  const upper = sorted[Math.ceil(position)] ?? lower;
  return lower + (upper - lower) * (position - Math.floor(position));
}
