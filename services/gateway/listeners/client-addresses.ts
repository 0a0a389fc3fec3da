import type { Visitor } from '../../contracts/gateway/api.ts';
import type { Clock } from '../../contracts/service.ts';

const most = 50;

/** Counts connections of other computers since the start, which prove that the network path is open. */
export class Visitors {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Visitor>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Admission is counted per port. */
  note({ address, port, letIn }: Omit<Visitor, 'seenAt'>): void {
    const key = `${address} ${port ?? ''}`;
    this.#seen.delete(key);
    this.#seen.set(key, { address, port, letIn, seenAt: this.#clock.now() });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > most && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** Lists entries, newest first. */
  list(): Visitor[] {
    return [...this.#seen.values()].reverse();
  }
}
