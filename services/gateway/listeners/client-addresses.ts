import type { Visitor } from '../../contracts/gateway/api.ts';
import type { Clock } from '../../contracts/service.ts';

const maxEntries = 50;

/** Counts connections of other computers since the start, which prove that the network path is open. */
export class ClientAddresses {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Visitor>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Admission is counted per port. */
  record({ address, port, letIn }: Omit<Visitor, 'seenAt'>): void {
    const key = `${address} ${port ?? ''}`;
    this.#entries.delete(key);
    this.#entries.set(key, { address, port, letIn, seenAt: this.#clock.now() });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }

  /** Lists entries, newest first. */
  list(): Visitor[] {
    return [...this.#entries.values()].reverse();
  }
}
