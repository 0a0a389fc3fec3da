/** Query or form as an object without prototype; a repeated name becomes a list. */
export type QueryObject = Readonly<Record<string, string | readonly string[]>>;

/** Converts a query to an object, for validation by a schema. */
export function toQueryObject(parameters: URLSearchParams): QueryObject {
  const query = Object.create(null) as Record<string, string | string[]>;
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return query;
}
