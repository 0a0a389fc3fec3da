/**
 * A topic pattern as the peer stores it, for SQL's LIKE: `%` is any run of characters, `\_` a plain underscore. Answers
 * it as grants have it, with `*`.
 */
export function patternOf(like: string): string {
  return like.replaceAll('\\_', '_').replaceAll('%', '*');
}
