import type { Visitor } from '../../contracts/gateway/api.ts';
import type { Clock } from '../../contracts/service.ts';

const most = 50;

/** Other machines that have connected since the start, let in or not: what proves that the way to here is open. */
export class Visitors {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Visitor>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One may be let in at one port and turned away at another. */
  note({ address, port, letIn }: Omit<Visitor, 'seenAt'>): void {
    const key = `${address} ${port ?? ''}`;
    this.#seen.delete(key);
    this.#seen.set(key, { address, port, letIn, seenAt: this.#clock.now() });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > most && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** The latest first. */
  list(): Visitor[] {
    return [...this.#seen.values()].reverse();
  }
}
