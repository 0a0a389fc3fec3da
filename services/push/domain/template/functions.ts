import type { TemplateFunction } from './arguments.ts';
import { collectionFunctions } from './collection-functions.ts';
import { comparisonFunctions } from './comparison-functions.ts';
import { numberFunctions } from './number-functions.ts';
import { textFunctions } from './text-functions.ts';

/** Functions that look at their arguments one after another and stop at the first that is true (or false). */
export const lazyFunctions: Readonly<Record<string, boolean | undefined>> = { and: false, or: true };

/** All functions by name: Go's own and the peer's, which are Sprig's for text. */
export const functions: ReadonlyMap<string, TemplateFunction> = new Map([
  ...Object.entries(comparisonFunctions),
  ...Object.entries(numberFunctions),
  ...Object.entries(textFunctions),
  ...Object.entries(collectionFunctions),
]);

export function isFunction(name: string): boolean {
  return functions.has(name) || Object.hasOwn(lazyFunctions, name);
}
