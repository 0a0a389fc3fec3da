/** Token bucket: allows `burst` operations in a burst and one more every `replenish` ms. */
export class TokenBucket {
  readonly #burst: number;
  readonly #replenish: number;
  #tokens: number;
  #updatedAt: number;

  constructor(burst: number, replenish: number, now: number) {
    this.#burst = burst;
    this.#replenish = replenish;
    this.#tokens = burst;
    this.#updatedAt = now;
  }

  /**
   * Takes a token, or returns the ms until one is available. `now` is in ms; a clock that was set back adds no tokens.
   */
  take(now: number): { readonly isAllowed: true } | { readonly isAllowed: false; readonly waitMs: number } {
    this.#tokens = Math.min(this.#burst, this.#tokens + Math.max(0, now - this.#updatedAt) / this.#replenish);
    this.#updatedAt = now;
    if (this.#tokens < 1) return { isAllowed: false, waitMs: Math.ceil((1 - this.#tokens) * this.#replenish) };
    this.#tokens -= 1;
    return { isAllowed: true };
  }
}
