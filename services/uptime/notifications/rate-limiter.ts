import type { Clock } from '../../contracts/service.ts';

/** Maximum number of tracked names; the oldest are dropped. */
const maxNames = 10_000;

/** Limits the number of actions per name within a time window. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #withinMs: number;
  readonly #timestamps = new Map<string, number[]>();

  constructor(clock: Clock, max: number, withinMs: number) {
    this.#clock = clock;
    this.#max = max;
    this.#withinMs = withinMs;
  }

  /** Returns false when the limit is reached. */
  tryTake(name: string): boolean {
    const now = this.#clock.now();
    const recent = (this.#timestamps.get(name) ?? []).filter((at) => at > now - this.#withinMs);
    const allowed = recent.length < this.#max;
    this.#timestamps.delete(name);
    this.#timestamps.set(name, allowed ? [...recent, now] : recent);
    const [oldest] = this.#timestamps.keys();
    if (this.#timestamps.size > maxNames && oldest !== undefined) this.#timestamps.delete(oldest);
    return allowed;
  }
}
