import type { Clock } from '../../contracts/service.ts';

/** Names that are remembered; the oldest are forgotten first. */
const mostNames = 10_000;

/** So many times in a stretch of time, for each name. */
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

  /** False: it has been enough for now. */
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
