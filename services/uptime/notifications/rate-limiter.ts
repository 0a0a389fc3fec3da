import type { Clock } from '../../contracts/service.ts';

/** Maximum number of tracked names; the oldest are dropped. */
const mostNames = 10_000;

/** Limits the number of actions per name within a time window. */
export class Allowance {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #withinMs: number;
  readonly #taken = new Map<string, number[]>();

  constructor(clock: Clock, most: number, withinMs: number) {
    this.#clock = clock;
    this.#most = most;
    this.#withinMs = withinMs;
  }

  /** Returns false when the limit is reached. */
  take(name: string): boolean {
    const now = this.#clock.now();
    const recent = (this.#taken.get(name) ?? []).filter((at) => at > now - this.#withinMs);
    const allowed = recent.length < this.#most;
    this.#taken.delete(name);
    this.#taken.set(name, allowed ? [...recent, now] : recent);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > mostNames && oldest !== undefined) this.#taken.delete(oldest);
    return allowed;
  }
}
