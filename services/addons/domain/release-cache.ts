import { LruMap } from '../../kit/lru-map.ts';
import type { ReadRelease } from './read-stream.ts';
import { parseRelease } from './release.ts';
import type { ParsedFile } from './stream.ts';

/** Longer names are not cached. */
const maxNameLength = 400;

/** Returns a parser for release names with a cache. */
export function createCachedReleaseParser(maxSize: number | (() => number)): ReadRelease {
  const releases = new LruMap<string, ParsedFile>(maxSize);
  return (name) => {
    if (name.length > maxNameLength) return parseRelease(name);
    const cached = releases.get(name);
    if (cached !== undefined) return cached;
    // A substring of a long text would keep the complete text in memory.
    const ownName = Buffer.from(name).toString();
    const release = parseRelease(ownName);
    releases.set(ownName, release);
    return release;
  };
}
