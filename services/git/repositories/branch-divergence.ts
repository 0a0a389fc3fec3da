import type { Clock } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';

/** Maximum number of cached pairs. */
const mostKept = 2000;
/** Maximum number of concurrent calculations: each may walk through a complete history. */
const mostAtOnce = 2;
/**
 * Maximum time that a list of branches waits for a calculation, ms. The calculation continues and its result is cached.
 */
const patienceMs = 4000;
/** Maximum time of a calculation, ms. */
const longestMs = 60_000;

interface Distance {
  /** Commits of the tip that the base does not contain. */
  readonly ahead: number;
  readonly behind: number;
}

/** Counts the commits between a base and a tip. The result for two commits never changes and is cached. */
export class Distances {
  readonly #git: Git;
  readonly #clock: Pick<Clock, 'after'>;
  readonly #kept = new Map<string, Promise<Distance>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(git: Git, clock: Pick<Clock, 'after'>) {
    this.#git = git;
    this.#clock = clock;
  }

  /** Returns undefined if git failed or did not finish in time. */
  async of(folder: string, base: string, tip: string): Promise<Distance | undefined> {
    if (base === tip) return { ahead: 0, behind: 0 };
    let rest: Disposable | undefined;
    const soon = new Promise<undefined>((resolve) => {
      rest = this.#clock.after(patienceMs, () => resolve(undefined));
    });
    // A failure for one branch must not prevent the list of the others.
    const found = this.#known(folder, base, tip).catch(() => undefined);
    try {
      return await Promise.race([found, soon]);
    } finally {
      rest?.[Symbol.dispose]();
    }
  }

  #known(folder: string, base: string, tip: string): Promise<Distance> {
    const key = `${folder} ${base} ${tip}`;
    const distance = this.#kept.get(key) ?? this.#inTurn(() => this.#read(folder, base, tip));
    // Reinsert the key so that the map is ordered by last use.
    this.#kept.delete(key);
    this.#kept.set(key, distance);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    // Failed calculations are not cached.
    distance.catch(() => this.#kept.delete(key));
    return distance;
  }

  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running >= mostAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      // The slot is handed to the next waiting calculation.
      else next();
    }
  }

  async #read(folder: string, base: string, tip: string): Promise<Distance> {
    const args = ['rev-list', '--count', '--left-right', '--end-of-options', `${base}...${tip}`, '--'];
    const { stdout } = await this.#git.run(folder, args, { background: true, signal: AbortSignal.timeout(longestMs) });
    const [behind = 0, ahead = 0] = stdout.toString().trim().split('\t').map(Number);
    return { ahead, behind };
  }
}
