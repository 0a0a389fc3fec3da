/** Capacity of a leaky bucket, and the time in ms in which one event drains. */
export interface LeakyBucketOptions {
  readonly capacity: number;
  readonly drainMs: number;
}

/**
 * Leaky bucket: each event raises the level by one, and the level drains evenly. It is the counterpart of a token
 * bucket, which allows `capacity` events in a burst and one more every `drainMs`. Times are in ms since the epoch; a
 * clock that was set back drains nothing.
 */
export class LeakyBucket {
  readonly #capacity: number;
  readonly #drainMs: number;
  /** Time in which the bucket drains; kept in ms instead of events, so that whole numbers stay exact. */
  #fillMs = 0;
  #updatedAt = 0;

  constructor({ capacity, drainMs }: LeakyBucketOptions) {
    this.#capacity = capacity;
    this.#drainMs = drainMs;
  }

  getLevel(now: number): number {
    return this.#drain(now) / this.#drainMs;
  }

  /** Returns the time in ms until an event fits; 0 when it fits now. */
  getWaitMs(now: number): number {
    return Math.max(0, Math.ceil(this.#drain(now) + (1 - this.#capacity) * this.#drainMs));
  }

  /** Adds an event. The level does not exceed the capacity. */
  add(now: number): void {
    this.#fillMs = Math.min(this.#capacity * this.#drainMs, this.#drain(now) + this.#drainMs);
  }

  /** Adds an event that fits. Returns the time in ms until it fits; 0 when it was added. */
  tryAdd(now: number): number {
    const waitMs = this.getWaitMs(now);
    if (waitMs === 0) this.add(now);
    return waitMs;
  }

  /** Removes an event that was added in advance and did not happen. */
  remove(): void {
    this.#fillMs = Math.max(0, this.#fillMs - this.#drainMs);
  }

  clear(): void {
    this.#fillMs = 0;
  }

  #drain(now: number): number {
    this.#fillMs = Math.max(0, this.#fillMs - Math.max(0, now - this.#updatedAt));
    this.#updatedAt = now;
    return this.#fillMs;
  }
}
