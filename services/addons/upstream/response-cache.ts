import type { Clock } from '../../contracts/service.ts';
import { LruMap } from '../domain/lru-map.ts';

interface Entry<T> {
  readonly value: T;
  readonly at: number;
}

export interface AnswerCacheOptions<T> {
  readonly clock: Clock;
  readonly most: number | (() => number);
  /** Maximum age of a response that is returned without a new request, in milliseconds. */
  readonly freshMs: number;
  /** Maximum age of a response that is returned while a new request runs in the background, in milliseconds. */
  readonly staleMs: number;
  /** Returns false for values that must not be cached, such as errors and empty lists. */
  readonly keeps: (value: T) => boolean;
  /** Memory use of a value in any unit. The sum is limited by the maximum weight. */
  readonly weigh?: (value: T) => number;
  readonly mostWeight?: number;
  /**
   * Duration for which a failure is returned without a new request, in milliseconds. Failures are not cached by
   * default.
   */
  readonly failedMs?: number;
}

/** How the cache answered a request. */
export type CacheResult = 'hit' | 'stale' | 'miss' | 'joined';

/**
 * Caches responses by address. Simultaneous requests for one key share one upstream request, and a response that
 * arrives after its caller gave up is cached as well.
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

  /**
   * Returns a cached value or loads it.
   *
   * @param asker Account whose failures are cached separately from those of other accounts.
   */
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
      // The next caller requests the value again and reports the failure.
      if (running === undefined) this.#load(key, load, `${asker} ${key}`).catch(() => undefined);
      return { result: 'stale', answer: entry.value };
    }
    if (running !== undefined) return { result: 'joined', answer: running };
    return { result: 'miss', answer: this.#load(key, load, `${asker} ${key}`) };
  }

  /** Returns a value that is not stale, without a request. */
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
