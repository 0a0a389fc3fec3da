import { RunFault } from '../errors.ts';
import { isTrue, kindOf, typeOf } from '../values.ts';
import { isDeepEqual } from './equality.ts';
import { takes, takesMore, type TemplateFunction } from './signature.ts';

/** Sprig's functions that choose, and those that tell of what kind a value is. */
export const choiceFunctions: Readonly<Record<string, TemplateFunction>> = {
  default: takesMore(['any'], 'any', ([otherwise], [value]) => (isTrue(value) ? value : otherwise)),
  empty: takes(['any'], ([value]) => !isTrue(value)),
  coalesce: takesMore([], 'any', (_none, values) => values.find(isTrue)),
  ternary: takes(['any', 'any', 'bool'], ([yes, no, which]) => (which ? yes : no)),
  all: takesMore([], 'any', (_none, values) => values.every(isTrue)),
  any: takesMore([], 'any', (_none, values) => values.some(isTrue)),
  fail: takes(['string'], ([reason]) => {
    throw new RunFault(reason);
  }),
  typeOf: takes(['any'], ([value]) => typeOf(value)),
  typeIs: takes(['string', 'any'], ([type, value]) => type === typeOf(value)),
  typeIsLike: takes(['string', 'any'], ([type, value]) => type === typeOf(value) || `*${type}` === typeOf(value)),
  kindOf: takes(['any'], ([value]) => kindOf(value)),
  kindIs: takes(['string', 'any'], ([kind, value]) => kind === kindOf(value)),
  deepEqual: takes(['any', 'any'], ([a, b], run) => isDeepEqual(a, b, run)),
};
