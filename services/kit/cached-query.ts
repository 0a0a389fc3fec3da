import type { Clock } from '../contracts/service.ts';

interface CachedQueryOptions<Result> {
  readonly clock: Clock;
  readonly read: () => Promise<Result>;
  /** Something that the answer goes with besides what is told by {@link CachedQuery.invalidate}, such as the hour; another one means another answer. */
  readonly key: () => string;
  /** An answer from before the last change was given, and a newer one can be had now. */
  readonly onRefreshDue: () => void;
  /** ms that only pass; for tests. */
  readonly stopwatch?: () => number;
}

/** A reading that took less than this is repeated at once when something changed, ms. */
const cheapQueryMs = 50;
/** A dearer one rests so many times as long as it took: what it costs stays a small part of the machine. */
const pauseFactor = 15;

/**
 * An answer that costs the more the more is stored: kept while nothing changes, read anew after a change, and after a dear
 * reading not before it has rested. Until then the answer from before is given, and who asked is told when it is due.
 */
export class CachedQuery<Value> implements Disposable {
  readonly #options: CachedQueryOptions<Value>;
  readonly #stopwatch: () => number;
  #changes = 0;
  #cached: { readonly answer: Value; readonly state: string; readonly pausedUntil: number } | undefined;
  #running: { readonly state: string; readonly answer: Promise<Value> } | undefined;
  #due: Disposable | undefined;

  constructor(options: CachedQueryOptions<Value>) {
    this.#options = options;
    this.#stopwatch = options.stopwatch ?? (() => performance.now());
  }

  /** What was read may be otherwise now. */
  readonly invalidate = (): void => {
    this.#changes += 1;
  };

  /** The answer as it is, or as it was a short while ago where reading it is dear. */
  async get(): Promise<Value> {
    const state = `${String(this.#changes)} ${this.#options.key()}`;
    if (this.#cached?.state === state) return this.#cached.answer;
    const remainingMs = (this.#cached?.pausedUntil ?? 0) - this.#stopwatch();
    if (this.#cached !== undefined && remainingMs > 0) {
      this.#scheduleRefresh(remainingMs);
      return this.#cached.answer;
    }
    if (this.#running === undefined) return this.#start(state);
    if (this.#running.state === state) return this.#running.answer;
    // One at a time: what runs began before what the asker knows of.
    await this.#running.answer.catch(() => undefined);
    return this.get();
  }

  async #start(state: string): Promise<Value> {
    const startedAt = this.#stopwatch();
    const answer = this.#options.read();
    this.#running = { state, answer };
    try {
      const read = await answer;
      const durationMs = this.#stopwatch() - startedAt;
      this.#cached = {
        answer: read,
        state,
        pausedUntil: durationMs < cheapQueryMs ? 0 : startedAt + durationMs * (1 + pauseFactor),
      };
      return read;
    } finally {
      this.#running = undefined;
    }
  }

  #scheduleRefresh(ms: number): void {
    this.#due ??= this.#options.clock.after(ms, () => {
      this.#due = undefined;
      this.#options.onRefreshDue();
    });
  }

  [Symbol.dispose](): void {
    this.#due?.[Symbol.dispose]();
  }
}
