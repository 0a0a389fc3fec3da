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

  note(address: string, letIn: boolean): void {
    this.#seen.delete(address);
    this.#seen.set(address, { address, letIn, seenAt: this.#clock.now() });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > most && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** The latest first, without this machine itself. */
  list(own: readonly string[]): Visitor[] {
    return [...this.#seen.values()].filter(({ address }) => !own.includes(address)).reverse();
  }
}
