import type { Clock } from '../contracts/service.ts';
import { runOutsideRequests } from './language.ts';

interface CachedQueryOptions<Result> {
  readonly clock: Clock;
  readonly read: () => Promise<Result>;
  /** Additional cache key, such as the current hour, in addition to {@link CachedQuery.invalidate}. */
  readonly key: () => string;
  /** Called when a stale result was returned and a current one can be read now. */
  readonly onRefreshDue: () => void;
  /** Monotonic time in ms; for tests. */
  readonly stopwatch?: () => number;
}

/** Maximum duration in ms of a query that is repeated immediately after a change. */
const cheapQueryMs = 50;
/** Pause after a slower query, as a multiple of its duration, to limit its share of the load. */
const pauseFactor = 15;

/**
 * Caches the result of a query whose cost grows with the stored data. After a change, a cheap query is repeated
 * immediately; an expensive one only after a pause, until which the stale result is returned and `onRefreshDue` is
 * scheduled.
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

  /** Marks the cached result as stale. */
  readonly invalidate = (): void => {
    this.#changes += 1;
  };

  /** Returns the current result, or a stale one during the pause after an expensive query. */
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
    // Runs one query at a time; the running one started before the latest change.
    await this.#running.answer.catch(() => undefined);
    return this.get();
  }

  async #start(state: string): Promise<Value> {
    const startedAt = this.#stopwatch();
    // Callers of several requests receive the result, and the query continues when the first client disconnects.
    const answer = runOutsideRequests(this.#options.read);
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
