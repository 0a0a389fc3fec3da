import { parseTitleExpression } from '../domain/title-expression.ts';

/** Tests each title against a regular expression of a user. Runs in a limited process. */
export function run({ regex, titles }: { readonly regex: string; readonly titles: readonly string[] }): boolean[] {
  const expression = parseTitleExpression(regex);
  return titles.map((title) => expression.test(title));
}
