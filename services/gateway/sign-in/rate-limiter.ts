import type { Clock } from '../../contracts/service.ts';

const maxAddresses = 4096;

/** Token bucket per address. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #buckets = new Map<string, { tokens: number; updatedAt: number }>();

  constructor(clock: Clock, { burst, perSecond }: { readonly burst: number; readonly perSecond: number }) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Returns false when the limit is exceeded. */
  take(address: string): boolean {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(address) ?? { tokens: this.#burst, updatedAt: now };
    const tokens = Math.min(
      this.#burst,
      bucket.tokens + (Math.max(0, now - bucket.updatedAt) / 1000) * this.#perSecond,
    );
    // Insertion order keeps the least recently used entry first.
    this.#buckets.delete(address);
    if (this.#buckets.size >= maxAddresses) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    this.#buckets.set(address, { tokens: Math.max(0, tokens - 1), updatedAt: now });
    return tokens >= 1;
  }
}
