import { isObjectId } from '../domain/names.ts';
import type { Git } from '../engine/git.ts';
import { countLog, readLog, type Commit, type LogQuery } from './commits.ts';

/** As many lists, and numbers, are remembered. */
const mostLists = 100;
const mostCounts = 2000;
/** Characters of what people wrote in the commits of a list; longer ones are read anew. */
const longestWords = 100_000;

/** Lists of commits that were read before: what is asked by ids alone is always answered the same. */
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
  // The map keeps them by their last use.
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  // What failed is tried again by who asks next.
  value.catch(() => kept.delete(key));
  return value;
}

function keyOf(folder: string, query: Omit<LogQuery, 'limit'>): string {
  return JSON.stringify([folder, query]);
}
