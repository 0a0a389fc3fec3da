import type { Clock } from '../../contracts/service.ts';
import { LruMap } from '../domain/lru-map.ts';

interface Entry<T> {
  readonly value: T;
  readonly at: number;
}

export interface AnswerCacheOptions<T> {
  readonly clock: Clock;
  readonly most: number | (() => number);
  /** Until then it is given without asking again. */
  readonly freshMs: number;
  /** Until then it is given, and asked for again behind the caller's back. */
  readonly staleMs: number;
  /** What is worth keeping: no errors, nothing empty. */
  readonly keeps: (value: T) => boolean;
  /** How much memory one takes, in any unit, and how much all of them may. */
  readonly weigh?: (value: T) => number;
  readonly mostWeight?: number;
  /** So long a failure is given without asking again; usually not at all. */
  readonly failedMs?: number;
}

/** How an answer was come by. */
export type CacheResult = 'hit' | 'stale' | 'miss' | 'joined';

/**
 * Answers by their address. The same question that is being asked already is not asked twice; an answer that comes after
 * its caller has left is kept all the same.
 */
export class AnswerCache<T> {
  readonly #options: AnswerCacheOptions<T>;
  readonly #entries: LruMap<string, Entry<T>>;
  readonly #running = new Map<string, Promise<T>>();
  readonly #failed: LruMap<string, { readonly message: string; readonly until: number }>;

  constructor(options: AnswerCacheOptions<T>) {
    this.#options = options;
    const { weigh = () => 0, mostWeight = Infinity } = options;
    this.#failed = new LruMap(options.most);
    this.#entries = new LruMap(options.most, { weigh: ({ value }) => weigh(value), mostWeight });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** `asker`: whose failure it would be, where not everybody's. */
  get(
    key: string,
    load: () => Promise<T>,
    asker = '',
  ): { readonly result: CacheResult; readonly answer: T | Promise<T> } {
    const { clock, freshMs, staleMs } = this.#options;
    const entry = this.#entries.get(key);
    const age = entry === undefined ? Infinity : clock.now() - entry.at;
    if (entry !== undefined && age < freshMs) return { result: 'hit', answer: entry.value };
    const running = this.#running.get(key);
    if (entry !== undefined && age < staleMs) {
      // Its failure is its next caller's affair, who asks again.
      if (running === undefined) this.#load(key, load, `${asker} ${key}`).catch(() => undefined);
      return { result: 'stale', answer: entry.value };
    }
    if (running !== undefined) return { result: 'joined', answer: running };
    return { result: 'miss', answer: this.#load(key, load, `${asker} ${key}`) };
  }

  /** What is fresh, without asking for anything. */
  peek(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#options.clock.now() - entry.at < this.#options.freshMs
      ? entry.value
      : undefined;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  #load(key: string, load: () => Promise<T>, failedKey: string): Promise<T> {
    const { clock, failedMs = 0, keeps } = this.#options;
    const failed = this.#failed.get(failedKey);
    if (failed !== undefined && failed.until > clock.now()) return Promise.reject(new Error(failed.message));
    const running = load().then(
      (value) => {
        this.#running.delete(key);
        this.#failed.delete(failedKey);
        if (keeps(value)) this.#entries.set(key, { value, at: clock.now() });
        else this.#entries.delete(key);
        return value;
      },
      (error: unknown) => {
        this.#running.delete(key);
        if (failedMs > 0) this.#failed.set(failedKey, { message: messageOf(error), until: clock.now() + failedMs });
        throw error;
      },
    );
    this.#running.set(key, running);
    return running;
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
