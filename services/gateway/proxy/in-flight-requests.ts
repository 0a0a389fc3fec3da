import type { Identity } from '../../contracts/control/accounts.ts';

/** Admitted exchange with its account. */
export interface AdmittedRequest {
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
export class InFlightRequests {
  readonly #requests = new Map<Endable, AdmittedRequest>();

  /** Number of running exchanges. */
  get size(): number {
    return this.#requests.size;
  }

  add(connection: Endable, admitted: AdmittedRequest): void {
    this.#requests.set(connection, admitted);
    connection.once('close', () => this.#requests.delete(connection));
  }

  /** Ends exchanges that are no longer permitted. */
  endRevoked(isAllowed: (admitted: AdmittedRequest) => boolean): void {
    for (const [connection, admitted] of this.#requests) if (!isAllowed(admitted)) connection.destroy();
  }
}
