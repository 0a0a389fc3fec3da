import { of, RunFault, type TemplateFunction } from './arguments.ts';
import { isTrue, textOf, typeOf, type Value } from './values.ts';

function isEqual(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b;
  if (typeof a === 'object' || typeof b === 'object') throw new RunFault('non-comparable types');
  if (typeof a !== typeof b) throw new RunFault('incompatible types for comparison');
  return a === b;
}

function isLess(a: Value, b: Value): boolean {
  if (typeof a !== typeof b) throw new RunFault('incompatible types for comparison');
  if ((typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string'))
    return a < b;
  throw new RunFault('invalid type for comparison');
}

function compare(decide: (a: Value, b: Value) => boolean): TemplateFunction {
  return of(2, ([a = null, b = null]) => decide(a, b));
}

/** eq, lt and their like, and what picks one of several values. */
export const comparisonFunctions: Readonly<Record<string, TemplateFunction>> = {
  eq: of(2, ([first = null, ...others]) => others.some((other) => isEqual(first, other)), Infinity),
  ne: compare((a, b) => !isEqual(a, b)),
  lt: compare(isLess),
  le: compare((a, b) => isLess(a, b) || isEqual(a, b)),
  gt: compare((a, b) => isLess(b, a)),
  ge: compare((a, b) => isLess(b, a) || isEqual(a, b)),
  not: of(1, ([value = null]) => !isTrue(value)),
  default: of(1, ([otherwise = null, value = null]) => (isTrue(value) ? value : otherwise), 2),
  empty: of(1, ([value = null]) => !isTrue(value)),
  coalesce: of(0, (given) => given.find(isTrue) ?? null, Infinity),
  ternary: of(3, ([yes = null, no = null, value = null]) => (value === true ? yes : no)),
  all: of(0, (given) => given.every(isTrue), Infinity),
  any: of(0, (given) => given.some(isTrue), Infinity),
  fail: of(1, ([reason = null]) => {
    throw new RunFault(textOf(reason, ''));
  }),
  typeOf: of(1, ([value = null]) => typeOf(value)),
  kindOf: of(1, ([value = null]) => kindOf(value)),
  kindIs: of(2, ([kind = null, value = null]) => kindOf(value) === kind),
};

function kindOf(value: Value): string {
  if (Array.isArray(value)) return 'slice';
  return value !== null && typeof value === 'object' ? 'map' : value === null ? 'invalid' : typeOf(value);
}
