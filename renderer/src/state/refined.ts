/** An address with some fields of its query set, or with an empty value removed. */
export function refined(path: string, query: URLSearchParams, fields: Readonly<Record<string, string>>): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  return next.size === 0 ? path : `${path}?${next.toString()}`;
}
