/**
 * Returns whether a JSON value has more than the given number of levels, since serializing it recurses to its depth.
 */
export function exceedsDepth(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => exceedsDepth(inner, levels - 1));
}
