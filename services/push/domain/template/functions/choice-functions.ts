import { ExecutionError } from '../errors.ts';
import { isTrue, getKind, getType } from '../values.ts';
import { isDeepEqual } from './equality.ts';
import { defineFunction, defineVariadic, type TemplateFunction } from './signature.ts';

/** Sprig's functions for defaults, conditions and types. */
export const choiceFunctions: Readonly<Record<string, TemplateFunction>> = {
  default: defineVariadic(['any'], 'any', ([fallback], [value]) => (isTrue(value) ? value : fallback)),
  empty: defineFunction(['any'], ([value]) => !isTrue(value)),
  coalesce: defineVariadic([], 'any', (_none, values) => values.find(isTrue)),
  ternary: defineFunction(['any', 'any', 'bool'], ([whenTrue, whenFalse, condition]) =>
    condition ? whenTrue : whenFalse,
  ),
  all: defineVariadic([], 'any', (_none, values) => values.every(isTrue)),
  any: defineVariadic([], 'any', (_none, values) => values.some(isTrue)),
  fail: defineFunction(['string'], ([reason]) => {
    throw new ExecutionError(reason);
  }),
  typeOf: defineFunction(['any'], ([value]) => getType(value)),
  typeIs: defineFunction(['string', 'any'], ([type, value]) => type === getType(value)),
  typeIsLike: defineFunction(
    ['string', 'any'],
    ([type, value]) => type === getType(value) || `*${type}` === getType(value),
  ),
  kindOf: defineFunction(['any'], ([value]) => getKind(value)),
  kindIs: defineFunction(['string', 'any'], ([kind, value]) => kind === getKind(value)),
  deepEqual: defineFunction(['any', 'any'], ([a, b], run) => isDeepEqual(a, b, run)),
};
