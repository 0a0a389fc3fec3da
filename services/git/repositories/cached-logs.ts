import { isObjectId } from '../domain/names.ts';
import type { Git } from '../engine/git.ts';
import { countLog, readLog, type Commit, type LogQuery } from './commits.ts';

/** Maximum number of cached lists. */
const mostLists = 100;
/** Maximum number of cached counts. */
const mostCounts = 2000;
/** Maximum length of names and messages of the commits of a list. Longer lists are not cached. */
const longestWords = 100_000;

/** Caches commit lists. Queries that use only object IDs always have the same result. */
export class KnownLogs {
  readonly #git: Git;
  readonly #lists = new Map<string, Promise<readonly Commit[]>>();
  readonly #counts = new Map<string, Promise<number>>();

  constructor(git: Git) {
    this.#git = git;
  }

  read(folder: string, query: LogQuery): Promise<readonly Commit[]> {
    const list = known(this.#lists, mostLists, folder, query, () => readLog(this.#git, folder, query));
    void list.then(
      (commits) => {
        const words = commits.reduce(
          (sum, { author, committer, message }) => sum + author.name.length + committer.name.length + message.length,
          0,
        );
        if (words > longestWords) this.#lists.delete(keyOf(folder, query));
      },
      () => undefined,
    );
    return list;
  }

  count(folder: string, query: Omit<LogQuery, 'limit'>): Promise<number> {
    return known(this.#counts, mostCounts, folder, query, () => countLog(this.#git, folder, query));
  }
}

function known<Value>(
  kept: Map<string, Promise<Value>>,
  most: number,
  folder: string,
  query: Omit<LogQuery, 'limit'>,
  ask: () => Promise<Value>,
): Promise<Value> {
  if (![...query.from, ...(query.not ?? [])].every(isObjectId)) return ask();
  const key = keyOf(folder, query);
  const value = kept.get(key) ?? ask();
  // Reinsert the key so that the map is ordered by last use.
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  // Failed reads are not cached.
  value.catch(() => kept.delete(key));
  return value;
}

function keyOf(folder: string, query: Omit<LogQuery, 'limit'>): string {
  return JSON.stringify([folder, query]);
}
