import { parsePath, buildPath } from './page-path.ts';

/**
 * Returns an address with fields of its query set, or removed for an empty value. The field `id` is part of the path
 * and names the open item.
 */
export function withQueryFields(
  path: string,
  query: URLSearchParams,
  fields: Readonly<Record<string, string>>,
): string {
  const { id, ...others } = fields;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(others)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const target = id === undefined ? path : buildPath({ ...parsePath(path), id });
  return next.size === 0 ? target : `${target}?${next.toString()}`;
}
