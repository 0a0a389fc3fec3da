import { isObjectId } from '../domain/names.ts';
import type { Git } from '../engine/git.ts';
import { countLog, readLog, type Commit, type LogQuery } from './commits.ts';

/** Maximum number of cached lists. */
const maxLists = 100;
/** Maximum number of cached counts. */
const maxCounts = 2000;
/** Maximum length of names and messages of the commits of a list. Longer lists are not cached. */
const maxTextLength = 100_000;

/** Caches commit lists. Queries that use only object IDs always have the same result. */
export class CachedLogs {
  readonly #git: Git;
  readonly #lists = new Map<string, Promise<readonly Commit[]>>();
  readonly #counts = new Map<string, Promise<number>>();

  constructor(git: Git) {
    this.#git = git;
  }

  read(folder: string, query: LogQuery): Promise<readonly Commit[]> {
    const list = readCached(this.#lists, maxLists, folder, query, () => readLog(this.#git, folder, query));
    void list.then(
      (commits) => {
        const textLength = commits.reduce(
          (sum, { author, committer, message }) => sum + author.name.length + committer.name.length + message.length,
          0,
        );
        if (textLength > maxTextLength) this.#lists.delete(buildKey(folder, query));
      },
      () => undefined,
    );
    return list;
  }

  count(folder: string, query: Omit<LogQuery, 'limit'>): Promise<number> {
    return readCached(this.#counts, maxCounts, folder, query, () => countLog(this.#git, folder, query));
  }
}

function readCached<Value>(
  cache: Map<string, Promise<Value>>,
  maxEntries: number,
  folder: string,
  query: Omit<LogQuery, 'limit'>,
  read: () => Promise<Value>,
): Promise<Value> {
  if (![...query.from, ...(query.exclude ?? [])].every(isObjectId)) return read();
  const key = buildKey(folder, query);
  const value = cache.get(key) ?? read();
  // Reinsert the key so that the map is ordered by last use.
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > maxEntries && oldest !== undefined) cache.delete(oldest);
  // Failed reads are not cached.
  value.catch(() => cache.delete(key));
  return value;
}

function buildKey(folder: string, query: Omit<LogQuery, 'limit'>): string {
  return JSON.stringify([folder, query]);
}
