/** The folder above a place; empty: there is none, but the list of all that there is. */
export function above(place: string): string {
  if (/^\/[^/]+\/?$/.test(place)) return '/';
  return /^(.*[^/:])\/[^/]+\/?$/.exec(place)?.[1] ?? /^([^/:]+:)[^/]+$/.exec(place)?.[1] ?? '';
}
