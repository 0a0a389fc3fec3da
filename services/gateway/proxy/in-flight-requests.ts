import type { Identity } from '../../contracts/control/accounts.ts';

/** Admitted exchange with its account. */
export interface Passed {
  readonly service: string;
  /** Undefined when no sign-in was required. */
  readonly identity: Identity | undefined;
  /** The path is public. */
  readonly isPublic: boolean;
  /** Client address. */
  readonly from: string;
}

/** Response or socket that ends the exchange when destroyed. */
interface Endable {
  once(event: 'close', call: () => void): unknown;
  destroy(): unknown;
}

/** Tracks running exchanges, so that they end when access is revoked. */
export class UnderWay {
  readonly #open = new Map<Endable, Passed>();

  /** Number of running exchanges. */
  get size(): number {
    return this.#open.size;
  }

  add(exchange: Endable, passed: Passed): void {
    this.#open.set(exchange, passed);
    exchange.once('close', () => this.#open.delete(exchange));
  }

  /** Ends exchanges that are no longer permitted. */
  review(isAllowed: (passed: Passed) => boolean): void {
    for (const [exchange, passed] of this.#open) if (!isAllowed(passed)) exchange.destroy();
  }
}
