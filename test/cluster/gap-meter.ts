/** Measures the longest time in ms between two events, including the time since the last one. */
export class GapMeter {
  #lastAt = performance.now();
  #longestMs = 0;

  record(): void {
    const now = performance.now();
    this.#longestMs = Math.max(this.#longestMs, now - this.#lastAt);
    this.#lastAt = now;
  }

  get longestMs(): number {
    return Math.max(this.#longestMs, performance.now() - this.#lastAt);
  }

  reset(): void {
    this.#longestMs = 0;
    this.#lastAt = performance.now();
  }
}
