import { addressOf, pathOf } from './page-path.ts';

/**
 * An address with some fields of its query set, or with an empty value removed.
 * The field `id` is a part of the path: which of the things is open.
 */
export function refined(path: string, query: URLSearchParams, fields: Readonly<Record<string, string>>): string {
  const { id, ...others } = fields;
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(others)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const to = id === undefined ? path : pathOf({ ...addressOf(path), id });
  return next.size === 0 ? to : `${to}?${next.toString()}`;
}
