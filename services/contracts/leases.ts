import type { Kysely } from 'kysely';

/** Ownership of a piece of work for as long as this host has it. */
export interface Lease {
  /** Increases with each owner of the lease; always 0 when no other host uses the tables. */
  readonly token: number;
  /** Aborted when the lease is lost or was released. */
  readonly signal: AbortSignal;
  /**
   * Ensures that this host still has the lease until the transaction ends: another host gets it only afterwards.
   * @throws LeaseLostError when another host has had the lease since.
   */
  readonly verify: (transaction: Kysely<any>) => Promise<void>;
  /**
   * Joins the next group commit as `Context.commit` does, and verifies the lease in its transaction.
   * @throws LeaseLostError when another host has had the lease since.
   */
  readonly commit: <T>(work: (transaction: Kysely<any>) => Promise<T>) => Promise<T>;
}

/** Starts work with a lease; its disposal stops the work while the lease is still held, unless it was lost. */
export type LeasedWork = (lease: Lease) => Promise<AsyncDisposable | Disposable> | AsyncDisposable | Disposable;

/** Candidacy of this host for a lease. The disposal stops the work and releases the lease to another host. */
export interface LeaseCandidacy extends AsyncDisposable {
  /** The lease while this host has it. */
  readonly lease: Lease | undefined;
}

/**
 * Leases for work that exactly one of the hosts with the same tables runs at a time, such as schedules. When no other
 * host uses the tables, the host has all leases permanently, without rows or timers.
 *
 * A lease expires six seconds after its last renewal, by the clock of the database. Work must read its state from the
 * tables when it starts, and write through `Lease.commit` what another owner must not repeat or overwrite.
 */
export interface Leases {
  /** Identifies this run of the host in rows of work that it does, such as a download. */
  readonly hostId: string;
  /** Returns those of the hosts that have ended or hang. A host that hangs and continues is listed until then. */
  findEnded(hostIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Runs work whenever this host has the lease, until the candidacy is disposed. Resolves after the first attempt to
   * get the lease, and after the start of the work if it succeeded.
   * @param name Unique in the service.
   * @throws the error of the first start of the work. Later starts that fail are logged and repeated.
   */
  hold(name: string, work: LeasedWork): Promise<LeaseCandidacy>;
}

/** Refused write of a host that no longer has the lease of the work. */
export class LeaseLostError extends Error {
  readonly code = 'lease.lost';

  constructor(name: string) {
    super(`the lease ${name} belongs to another host`);
    this.name = 'LeaseLostError';
  }
}
