/** Returns the fields of a value with their types; for a list those of its first item. */
export function describeShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? 'list' : [describeShape(value[0])];
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, describeShape(member)]));
}
