import type { Clock } from '../../contracts/service.ts';
import { LruMap } from '../../kit/lru-map.ts';

interface CacheEntry<T> {
  readonly value: T;
  readonly storedAt: number;
}

export interface ResponseCacheOptions<T> {
  readonly clock: Clock;
  readonly maxEntries: number | (() => number);
  /** Maximum age of a response that is returned without a new request, in milliseconds. */
  readonly freshMs: number;
  /** Maximum age of a response that is returned while a new request runs in the background, in milliseconds. */
  readonly staleMs: number;
  /** Returns false for values that must not be cached, such as errors and empty lists. */
  readonly isCacheable: (value: T) => boolean;
  /** Memory use of a value in any unit. The sum is limited by the maximum weight. */
  readonly getWeight?: (value: T) => number;
  readonly maxWeight?: number;
  /**
   * Duration for which a failure is returned without a new request, in milliseconds. Failures are not cached by
   * default.
   */
  readonly failureCacheMs?: number;
}

/** How the cache answered a request. */
export type CacheResult = 'hit' | 'stale' | 'miss' | 'joined';

/**
 * Caches responses by address. Simultaneous requests for one key share one upstream request, and a response that
 * arrives after its caller gave up is cached as well.
 */
export class ResponseCache<T> {
  readonly #options: ResponseCacheOptions<T>;
  readonly #entries: LruMap<string, CacheEntry<T>>;
  readonly #pending = new Map<string, Promise<T>>();
  readonly #failures: LruMap<string, { readonly message: string; readonly expiresAt: number }>;

  constructor(options: ResponseCacheOptions<T>) {
    this.#options = options;
    const { getWeight = () => 0, maxWeight = Infinity } = options;
    this.#failures = new LruMap(options.maxEntries);
    this.#entries = new LruMap(options.maxEntries, { getWeight: ({ value }) => getWeight(value), maxWeight });
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns a cached value or loads it.
   *
   * @param credentialHash Account whose failures are cached separately from those of other accounts.
   */
  get(
    key: string,
    load: () => Promise<T>,
    credentialHash = '',
  ): { readonly result: CacheResult; readonly response: T | Promise<T> } {
    const { clock, freshMs, staleMs } = this.#options;
    const entry = this.#entries.get(key);
    const age = entry === undefined ? Infinity : clock.now() - entry.storedAt;
    if (entry !== undefined && age < freshMs) return { result: 'hit', response: entry.value };
    const pending = this.#pending.get(key);
    if (entry !== undefined && age < staleMs) {
      // The next caller requests the value again and reports the failure.
      if (pending === undefined) this.#load(key, load, `${credentialHash} ${key}`).catch(() => undefined);
      return { result: 'stale', response: entry.value };
    }
    if (pending !== undefined) return { result: 'joined', response: pending };
    return { result: 'miss', response: this.#load(key, load, `${credentialHash} ${key}`) };
  }

  /** Returns a value that is not stale, without a request. */
  peek(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#options.clock.now() - entry.storedAt < this.#options.freshMs
      ? entry.value
      : undefined;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  #load(key: string, load: () => Promise<T>, failureKey: string): Promise<T> {
    const { clock, failureCacheMs = 0, isCacheable } = this.#options;
    const failure = this.#failures.get(failureKey);
    if (failure !== undefined && failure.expiresAt > clock.now()) return Promise.reject(new Error(failure.message));
    const pending = load().then(
      (value) => {
        this.#pending.delete(key);
        this.#failures.delete(failureKey);
        if (isCacheable(value)) this.#entries.set(key, { value, storedAt: clock.now() });
        else this.#entries.delete(key);
        return value;
      },
      (error: unknown) => {
        this.#pending.delete(key);
        if (failureCacheMs > 0)
          this.#failures.set(failureKey, { message: getErrorMessage(error), expiresAt: clock.now() + failureCacheMs });
        throw error;
      },
    );
    this.#pending.set(key, pending);
    return pending;
  }
}

function getErrorMessage(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300);
}
