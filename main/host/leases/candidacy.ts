import type { Lease, LeaseCandidacy, LeasedWork } from '../../../services/contracts/leases.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';

/** Delay before the start of failed work is repeated. */
const retryMs = 10_000;

/** Lease of this host with the time until which no other host can have it, in ms of `performance.now()`. */
interface Ownership {
  readonly lease: Lease;
  readonly controller: AbortController;
  validUntil: number;
  isLost: boolean;
}

/** Collaborators of a candidacy. */
export interface CandidacyDependencies {
  readonly name: string;
  readonly work: LeasedWork;
  readonly log: Log;
  readonly createLease: (token: number, signal: AbortSignal) => Lease;
  /** Releases the lease to other hosts. */
  readonly release: (token: number) => Promise<void>;
  /** Called at the disposal. */
  readonly onEnd: () => void;
}

/** Candidacy for one lease: starts the work when the host gets the lease, and stops it when it loses the lease. */
export class Candidacy implements LeaseCandidacy {
  readonly name: string;
  readonly #dependencies: CandidacyDependencies;
  /** Serializes starts and stops of the work. */
  readonly #transitions = new SerialQueue();
  #ownership: Ownership | undefined;
  #running: AsyncDisposable | Disposable | undefined;
  #retryAt = 0;
  #isClosed = false;

  constructor(dependencies: CandidacyDependencies) {
    this.name = dependencies.name;
    this.#dependencies = dependencies;
  }

  get lease(): Lease | undefined {
    const ownership = this.#ownership;
    return ownership === undefined || ownership.isLost || performance.now() >= ownership.validUntil
      ? undefined
      : ownership.lease;
  }

  /** Returns true while the candidacy waits for the lease, but not while work of a lost lease is still stopping. */
  get wantsLease(): boolean {
    return !this.#isClosed && this.#ownership === undefined && performance.now() >= this.#retryAt;
  }

  /** Starts the work. Rejects when that failed; the lease is then released. */
  acquire(token: number, validUntil: number): Promise<void> {
    if (!this.wantsLease) return this.#dependencies.release(token);
    const controller = new AbortController();
    const lease = this.#dependencies.createLease(token, controller.signal);
    const ownership: Ownership = { lease, controller, validUntil, isLost: false };
    this.#ownership = ownership;
    this.#dependencies.log.info('lease acquired', { name: this.name, token });
    return this.#transitions.run(async () => {
      if (ownership.isLost || this.#isClosed) return;
      try {
        this.#running = await this.#dependencies.work(lease);
      } catch (error) {
        this.#retryAt = performance.now() + retryMs;
        await this.#end(ownership);
        throw error;
      }
    });
  }

  /** Extends the lease with a token after a renewal. */
  extend(token: number, validUntil: number): void {
    if (this.lease?.token === token && this.#ownership !== undefined) this.#ownership.validUntil = validUntil;
  }

  /** Stops the work when the lease was not renewed in time, or when another host has it. */
  checkLoss(now: number, isOwned = true): void {
    const ownership = this.#ownership;
    if (ownership === undefined || ownership.isLost || (isOwned && now < ownership.validUntil)) return;
    ownership.isLost = true;
    this.#dependencies.log.warn('lease lost', { name: this.name, token: ownership.lease.token });
    ownership.controller.abort();
    void this.#transitions.run(() => this.#end(ownership));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#transitions.run(async () => {
      if (this.#ownership !== undefined) await this.#end(this.#ownership);
    });
    this.#dependencies.onEnd();
  }

  /** Stops the work, and releases the lease unless it was lost. */
  async #end(ownership: Ownership): Promise<void> {
    if (this.#ownership !== ownership) return;
    const { log, release } = this.#dependencies;
    try {
      await disposeWork(this.#running);
    } catch (error) {
      log.error('leased work stop failed', { name: this.name, error });
    }
    this.#running = undefined;
    ownership.controller.abort();
    try {
      if (!ownership.isLost) await release(ownership.lease.token);
    } catch (error) {
      // The lease expires.
      log.warn('lease release failed', { name: this.name, error });
    }
    this.#ownership = undefined;
  }
}

/** Stops work; asynchronous disposal is preferred, since it waits for runs in progress. */
export async function disposeWork(work: AsyncDisposable | Disposable | undefined): Promise<void> {
  if (work === undefined) return;
  if (Symbol.asyncDispose in work) await work[Symbol.asyncDispose]();
  else work[Symbol.dispose]();
}
