import { LruMap } from './lru-map.ts';
import type { ReadRelease } from './read-stream.ts';
import { parseRelease } from './release.ts';
import type { ParsedFile } from './stream.ts';

/** Longer names are not cached. */
const longestName = 400;

/** Returns a parser for release names with a cache. */
export function rememberReleases(most: number | (() => number)): ReadRelease {
  const known = new LruMap<string, ParsedFile>(most);
  return (name) => {
    if (name.length > longestName) return parseRelease(name);
    const found = known.get(name);
    if (found !== undefined) return found;
    // A substring of a long text would keep the complete text in memory.
    const own = Buffer.from(name).toString();
    const read = parseRelease(own);
    known.set(own, read);
    return read;
  };
}
