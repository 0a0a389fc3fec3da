import type { Identity } from '../../contracts/control/accounts.ts';

/** What was let through, and as whom. */
export interface Passed {
  readonly service: string;
  /** Undefined where nobody had to sign in. */
  readonly identity: Identity | undefined;
  /** Whether its path needs no sign-in. */
  readonly isPublic: boolean;
  /** The address of the other side. */
  readonly from: string;
}

/** What ends an exchange at once: a response of HTTP, the socket of a WebSocket. */
interface Endable {
  once(event: 'close', call: () => void): unknown;
  destroy(): unknown;
}

/** What services answer at the moment, so that who loses access loses what is open, too. */
export class UnderWay {
  readonly #open = new Map<Endable, Passed>();

  /** How many there are. */
  get size(): number {
    return this.#open.size;
  }

  add(exchange: Endable, passed: Passed): void {
    this.#open.set(exchange, passed);
    exchange.once('close', () => this.#open.delete(exchange));
  }

  /** Ends all that would not be let through now. */
  review(isAllowed: (passed: Passed) => boolean): void {
    for (const [exchange, passed] of this.#open) if (!isAllowed(passed)) exchange.destroy();
  }
}
