import type { Clock } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';

/** Maximum number of cached pairs. */
const maxCached = 2000;
/** Maximum number of concurrent calculations: each may walk through a complete history. */
const maxConcurrent = 2;
/**
 * Maximum time that a list of branches waits for a calculation, ms. The calculation continues and its result is cached.
 */
const waitTimeoutMs = 4000;
/** Maximum time of a calculation, ms. */
const calculationTimeoutMs = 60_000;

interface Divergence {
  /** Commits of the tip that the base does not contain. */
  readonly ahead: number;
  readonly behind: number;
}

/** Counts the commits between a base and a tip. The result for two commits never changes and is cached. */
export class BranchDivergence {
  readonly #git: Git;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #cache = new Map<string, Promise<Divergence>>();
  readonly #waiters: (() => void)[] = [];
  #running = 0;

  constructor(git: Git, clock: Pick<Clock, 'after'>) {
    this.#git = git;
    this.#clock = clock;
  }

  /** Returns undefined if git failed or did not finish in time. */
  async get(folder: string, base: string, tip: string): Promise<Divergence | undefined> {
    if (base === tip) return { ahead: 0, behind: 0 };
    let timer: Disposable | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = this.#clock.after(waitTimeoutMs, () => resolve(undefined));
    });
    // A failure for one branch must not prevent the list of the others.
    const result = this.#readCached(folder, base, tip).catch(() => undefined);
    try {
      return await Promise.race([result, timeout]);
    } finally {
      timer?.[Symbol.dispose]();
    }
  }

  #readCached(folder: string, base: string, tip: string): Promise<Divergence> {
    const key = `${folder} ${base} ${tip}`;
    const divergence = this.#cache.get(key) ?? this.#runLimited(() => this.#read(folder, base, tip));
    // Reinsert the key so that the map is ordered by last use.
    this.#cache.delete(key);
    this.#cache.set(key, divergence);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > maxCached && oldest !== undefined) this.#cache.delete(oldest);
    // Failed calculations are not cached.
    divergence.catch(() => this.#cache.delete(key));
    return divergence;
  }

  async #runLimited<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running >= maxConcurrent) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiters.shift();
      if (next === undefined) this.#running -= 1;
      // The slot is handed to the next waiting calculation.
      else next();
    }
  }

  async #read(folder: string, base: string, tip: string): Promise<Divergence> {
    const args = ['rev-list', '--count', '--left-right', '--end-of-options', `${base}...${tip}`, '--'];
    const { stdout } = await this.#git.run(folder, args, {
      background: true,
      signal: AbortSignal.timeout(calculationTimeoutMs),
    });
    const [behind = 0, ahead = 0] = stdout.toString().trim().split('\t').map(Number);
    return { ahead, behind };
  }
}
