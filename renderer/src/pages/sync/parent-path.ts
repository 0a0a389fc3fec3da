/** The folder above a place; empty: there is none, but the list of all that there is. */
export function above(place: string): string {
  if (/^\/[^/]+\/?$/.test(place)) return '/';
  return /^(.*[^/:])\/[^/]+\/?$/.exec(place)?.[1] ?? /^([^/:]+:)[^/]+$/.exec(place)?.[1] ?? '';
}

/** A place and the folders on the way there from the top, each with its name. */
export function wayTo(place: string): readonly (readonly [string, string])[] {
  const way: (readonly [string, string])[] = [];
  for (let at = place; at !== ''; at = above(at)) {
    const name = at === '/' ? 'This computer' : (/([^/]+)\/?$/.exec(at)?.[1] ?? at);
    // The first folder of a remote stands right behind its name.
    way.unshift([above(at) === '' || at.includes('/') ? name : name.replace(/^[^:]+:/, ''), at]);
  }
  return way;
}
