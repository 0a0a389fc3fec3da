import { choiceFunctions } from './choice-functions.ts';
import { dateFunctions } from './date-functions.ts';
import { dictFunctions } from './dict-functions.ts';
import { encodingFunctions } from './encoding-functions.ts';
import { goFunctions } from './go-functions.ts';
import { listFunctions } from './list-functions.ts';
import { numberFunctions } from './number-functions.ts';
import { pathFunctions } from './path-functions.ts';
import { regexFunctions } from './regex-functions.ts';
import type { TemplateFunction } from './signature.ts';
import { textFunctions } from './text-functions.ts';
import { urlFunctions } from './url-functions.ts';

/** Functions that look at their arguments one after another and stop at the first that is true (or false). */
export const lazyFunctions: ReadonlyMap<string, boolean> = new Map([
  ['and', false],
  ['or', true],
]);

/** All functions by name: Go's own and the peer's, which are Sprig's for text. */
export const functions: ReadonlyMap<string, TemplateFunction> = new Map(
  [
    goFunctions,
    choiceFunctions,
    numberFunctions,
    textFunctions,
    listFunctions,
    dictFunctions,
    dateFunctions,
    regexFunctions,
    encodingFunctions,
    pathFunctions,
    urlFunctions,
  ].flatMap((group) => Object.entries(group)),
);

export function isFunction(name: string): boolean {
  return functions.has(name) || lazyFunctions.has(name);
}
