/** Lets `burst` through at once and one more every `replenish` ms. */
export class Bucket {
  readonly #burst: number;
  readonly #replenish: number;
  #level: number;
  #at: number;

  constructor(burst: number, replenish: number, now: number) {
    this.#burst = burst;
    this.#replenish = replenish;
    this.#level = burst;
    this.#at = now;
  }

  /** Takes one; else says how many ms until there is one again. `now` in ms; a clock that was set back gains nothing. */
  take(now: number): { readonly taken: true } | { readonly taken: false; readonly waitMs: number } {
    this.#level = Math.min(this.#burst, this.#level + Math.max(0, now - this.#at) / this.#replenish);
    this.#at = now;
    if (this.#level < 1) return { taken: false, waitMs: Math.ceil((1 - this.#level) * this.#replenish) };
    this.#level -= 1;
    return { taken: true };
  }
}
