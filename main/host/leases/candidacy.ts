import type { Lease, LeaseCandidacy, LeasedWork } from '../../../services/contracts/leases.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';

/** Delay before the start of failed work is repeated. */
const retryMs = 10_000;

/** Lease of this host with the time until which no other host can have it, in ms of `performance.now()`. */
interface HeldLease {
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
  #held: HeldLease | undefined;
  #running: AsyncDisposable | Disposable | undefined;
  #retryAt = 0;
  #isClosed = false;

  constructor(dependencies: CandidacyDependencies) {
    this.name = dependencies.name;
    this.#dependencies = dependencies;
  }

  get lease(): Lease | undefined {
    const held = this.#held;
    return held === undefined || held.isLost || performance.now() >= held.validUntil ? undefined : held.lease;
  }

  /** Whether the candidacy waits for the lease. False also while work of a lost lease is still stopping. */
  get wantsLease(): boolean {
    return !this.#isClosed && this.#held === undefined && performance.now() >= this.#retryAt;
  }

  /** Starts the work. Rejects when that failed; the lease is then released. */
  acquire(token: number, validUntil: number): Promise<void> {
    if (!this.wantsLease) return this.#dependencies.release(token);
    const controller = new AbortController();
    const lease = this.#dependencies.createLease(token, controller.signal);
    const held: HeldLease = { lease, controller, validUntil, isLost: false };
    this.#held = held;
    this.#dependencies.log.info('lease acquired', { name: this.name, token });
    return this.#transitions.run(async () => {
      if (held.isLost || this.#isClosed) return;
      try {
        this.#running = await this.#dependencies.work(lease);
      } catch (error) {
        this.#retryAt = performance.now() + retryMs;
        await this.#end(held);
        throw error;
      }
    });
  }

  /** Extends the lease with a token after a renewal. */
  extend(token: number, validUntil: number): void {
    if (this.lease?.token === token && this.#held !== undefined) this.#held.validUntil = validUntil;
  }

  /** Stops the work when the lease was not renewed in time, or when another host has it. */
  checkLoss(now: number, isOwned = true): void {
    const held = this.#held;
    if (held === undefined || held.isLost || (isOwned && now < held.validUntil)) return;
    held.isLost = true;
    this.#dependencies.log.warn('lease lost', { name: this.name, token: held.lease.token });
    held.controller.abort();
    void this.#transitions.run(() => this.#end(held));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#transitions.run(async () => {
      if (this.#held !== undefined) await this.#end(this.#held);
    });
    this.#dependencies.onEnd();
  }

  /** Stops the work, and releases the lease unless it was lost. */
  async #end(held: HeldLease): Promise<void> {
    if (this.#held !== held) return;
    const { log, release } = this.#dependencies;
    try {
      await disposeWork(this.#running);
    } catch (error) {
      log.error('leased work stop failed', { name: this.name, error });
    }
    this.#running = undefined;
    held.controller.abort();
    try {
      if (!held.isLost) await release(held.lease.token);
    } catch (error) {
      // The lease expires.
      log.warn('lease release failed', { name: this.name, error });
    }
    this.#held = undefined;
  }
}

/** Stops work; asynchronous disposal is preferred, since it waits for runs in progress. */
export async function disposeWork(work: AsyncDisposable | Disposable | undefined): Promise<void> {
  if (work === undefined) return;
  if (Symbol.asyncDispose in work) await work[Symbol.asyncDispose]();
  else work[Symbol.dispose]();
}
