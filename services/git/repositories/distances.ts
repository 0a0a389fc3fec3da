import type { Clock } from '../../contracts/service.ts';
import type { Git } from '../engine/git.ts';

/** As many pairs are remembered. */
const mostKept = 2000;
/** As many are worked out at once: each may walk through a whole history. */
const mostAtOnce = 2;
/** For so long whoever lists branches waits for their numbers, ms; they are worked out nevertheless, for who asks next. */
const patienceMs = 4000;
/** One that takes longer is given up, so that others have their turn, ms. */
const longestMs = 60_000;

interface Distance {
  /** Commits that the tip has and the base has not. */
  readonly ahead: number;
  readonly behind: number;
}

/** How far commits are from each other; two of them never change that. */
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

  /** Undefined where git could not say, or not soon. */
  async of(folder: string, base: string, tip: string): Promise<Distance | undefined> {
    if (base === tip) return { ahead: 0, behind: 0 };
    let rest: Disposable | undefined;
    const soon = new Promise<undefined>((resolve) => {
      rest = this.#clock.after(patienceMs, () => resolve(undefined));
    });
    // What one branch lacks keeps nobody from seeing the others.
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
    // The map keeps them by their last use.
    this.#kept.delete(key);
    this.#kept.set(key, distance);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    // What failed is tried again by who asks next.
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
      // The place is handed on.
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
