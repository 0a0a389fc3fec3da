/**
 * Converts a topic pattern of ntfy, stored for SQL's LIKE (`%` for any characters, `\_` for an underscore), to the form
 * of grants with `*`.
 */
export function fromLikePattern(like: string): string {
  return like.replaceAll('\\_', '_').replaceAll('%', '*');
}
