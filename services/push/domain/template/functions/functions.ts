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

/** Functions that evaluate arguments until the first true (or false) one. */
export const lazyFunctions: ReadonlyMap<string, boolean> = new Map([
  ['and', false],
  ['or', true],
]);

/** All functions by name: those of Go and those of ntfy, which are Sprig's text functions. */
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
