import * as m from '#messages/sync';

/** Returns the parent of a location; empty for the list of roots. */
export function getParentPath(location: string): string {
  if (/^\/[^/]+\/?$/.test(location)) return '/';
  return /^(.*[^/:])\/[^/]+\/?$/.exec(location)?.[1] ?? /^([^/:]+:)[^/]+$/.exec(location)?.[1] ?? '';
}

/** Returns a location and its parents from the top, each with its name. */
export function getPathSegments(location: string): readonly (readonly [string, string])[] {
  const segments: (readonly [string, string])[] = [];
  for (let path = location; path !== ''; path = getParentPath(path)) {
    const name = path === '/' ? m.thisComputer() : (/([^/]+)\/?$/.exec(path)?.[1] ?? path);
    // The first folder of a remote follows the remote name without a slash.
    segments.unshift([getParentPath(path) === '' || path.includes('/') ? name : name.replace(/^[^:]+:/, ''), path]);
  }
  return segments;
}
