import type { Clock } from '../contracts/service.ts';
import { LeakyBucket, type LeakyBucketOptions } from './leaky-bucket.ts';
import { LruMap } from './lru-map.ts';

const maxKeys = 4096;

/** Limits events per key, such as an address. */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #limit: LeakyBucketOptions;
  readonly #buckets = new LruMap<string, LeakyBucket>(maxKeys);

  constructor(clock: Pick<Clock, 'now'>, limit: LeakyBucketOptions) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Counts an event. Returns false when the limit is exceeded. */
  take(key: string): boolean {
    const bucket = this.#buckets.get(key) ?? new LeakyBucket(this.#limit);
    this.#buckets.set(key, bucket);
    return bucket.tryAdd(this.#clock.now()) === 0;
  }
}
