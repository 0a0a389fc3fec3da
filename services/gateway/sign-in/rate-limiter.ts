import type { Clock } from '../../contracts/service.ts';

const mostAddresses = 4096;

/** Token bucket per address. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(clock: Clock, { burst, perSecond }: { readonly burst: number; readonly perSecond: number }) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
  }

  /** Returns false when the limit is exceeded. */
  take(address: string): boolean {
    const now = this.#clock.now();
    const before = this.#buckets.get(address) ?? { left: this.#burst, at: now };
    const left = Math.min(this.#burst, before.left + (Math.max(0, now - before.at) / 1000) * this.#perSecond);
    // Insertion order keeps the least recently used entry first.
    this.#buckets.delete(address);
    if (this.#buckets.size >= mostAddresses) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    this.#buckets.set(address, { left: Math.max(0, left - 1), at: now });
    return left >= 1;
  }
}
