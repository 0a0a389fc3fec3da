import { number, of, RunFault, whole, type TemplateFunction } from './arguments.ts';
import type { Value } from './values.ts';

function fold(take: (given: readonly Value[]) => readonly number[], step: (a: number, b: number) => number) {
  return of(
    1,
    (given) => {
      const [first = 0, ...others] = take(given);
      return others.reduce((sum, each) => step(sum, each), first);
    },
    Infinity,
  );
}

const wholes = (given: readonly Value[]): readonly number[] => given.map(whole);
const numbers = (given: readonly Value[]): readonly number[] => given.map(number);

function divisor(value: number): number {
  if (value === 0) throw new RunFault('division by zero');
  return value;
}

/** Arithmetic: the plain names work on whole numbers, those with an f on any. */
export const numberFunctions: Readonly<Record<string, TemplateFunction>> = {
  add: fold(wholes, (a, b) => a + b),
  sub: fold(wholes, (a, b) => a - b),
  mul: fold(wholes, (a, b) => a * b),
  div: fold(wholes, (a, b) => Math.trunc(a / divisor(b))),
  mod: fold(wholes, (a, b) => a % divisor(b)),
  add1: of(1, ([value]) => whole(value) + 1),
  addf: fold(numbers, (a, b) => a + b),
  subf: fold(numbers, (a, b) => a - b),
  mulf: fold(numbers, (a, b) => a * b),
  divf: fold(numbers, (a, b) => a / divisor(b)),
  max: fold(wholes, Math.max),
  min: fold(wholes, Math.min),
  maxf: fold(numbers, Math.max),
  minf: fold(numbers, Math.min),
  floor: of(1, ([value]) => Math.floor(number(value))),
  ceil: of(1, ([value]) => Math.ceil(number(value))),
  round: of(2, ([value, places]) => {
    const scale = 10 ** Math.min(Math.max(whole(places), 0), 15);
    return Math.round(number(value) * scale) / scale;
  }),
  int: of(1, ([value]) => whole(value)),
  int64: of(1, ([value]) => whole(value)),
  float64: of(1, ([value]) => number(value)),
  atoi: of(1, ([value]) => whole(value)),
};
