import type { Kysely } from 'kysely';
import { claimBesideOthers, leaseMs, type ClaimRequest } from './claim.ts';
import type { KindState } from './kind-state.ts';
import { hasLapsed, listOwners, releaseExpired, renewLeases } from './leases.ts';
import type { LiveJob } from './live-jobs.ts';
import type { Outcome } from './job-end.ts';
import { findHostId, isGone } from './owner.ts';
import { releaseAllFirst, type InsertedJob, type JobRow } from './table.ts';
import { Worker, type WorkerDependencies } from './worker.ts';
import { RepeatingTask } from '../../../services/kit/repeating-task.ts';

const renewEveryMs = 20_000;
/** Interval of the same when the leases of hosts decide which of them have ended. */
const renewForHostsEveryMs = 2000;
/** Polls for jobs that other hosts enqueued, since no wake reports them. */
const pollEveryMs = 5_000;
/** A claim can run before the commit of a transaction outside of the group commit, and miss its jobs. */
const idlePollMs = 250;

/**
 * Worker of a host that shares its table with others. Only claimed jobs run; a claim is a lease, which is renewed
 * while the host lives and released by others afterwards. Each end is stored immediately.
 */
export class SharedWorker extends Worker {
  /** Ids of hosts that have ended, of those that own jobs. */
  #ended: ReadonlySet<string> = new Set();

  static async open(parts: WorkerDependencies): Promise<SharedWorker> {
    const { clock, database, hosts, log } = parts;
    const worker = new SharedWorker(parts);
    await worker.#releaseExpired();
    await database.note(releaseAllFirst);
    const poll = async (): Promise<void> => {
      await database.note(releaseAllFirst);
      worker.checkAllKinds();
    };
    const onError = (error: unknown): void => log.warn('database write failed, jobs delayed', { error });
    // A database that hangs must not accumulate runs.
    const repeat = (intervalMs: number, task: () => Promise<void>): void =>
      void worker.timers.use(new RepeatingTask(task, { clock, intervalMs, onError }));
    const intervalMs = hosts === undefined ? renewEveryMs : renewForHostsEveryMs;
    repeat(intervalMs, () => worker.#renew());
    repeat(intervalMs, () => worker.#releaseExpired());
    repeat(pollEveryMs, poll);
    return worker;
  }

  enqueued(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void {
    const settled = settling === undefined ? [] : jobs.map(({ row }) => this.settle(row, settling));
    void settling?.then(() => {
      for (const job of settled) if (job?.state === 'settling') this.forget(job);
    });
    const kindState = this.kinds.get(kind);
    const now = this.parts.clock.now();
    // A held job becomes due with the end of its predecessor, unless it is scheduled even later.
    const awaited = jobs.filter(({ row, held }) => !held || row.run_at > now);
    if (kindState === undefined || awaited.length === 0) return;
    for (const { row } of awaited) this.scheduleDue(kindState, row.run_at);
    if (settling === undefined) this.scheduleDue(kindState, now + idlePollMs);
  }

  protected claim(transaction: Kysely<any>, ask: ClaimRequest): Promise<readonly JobRow[]> {
    return claimBesideOthers(transaction, ask);
  }

  protected isAbandoned(owner: string, until: number): boolean {
    const hostId = this.parts.hosts === undefined ? undefined : findHostId(owner);
    if (hostId === undefined) return hasLapsed(owner, until, this.parts.clock.now());
    return isGone(owner) || this.#ended.has(hostId);
  }

  protected ended(job: LiveJob, kindState: KindState, outcome: Outcome): void {
    this.end(job, { kindState, outcome, journaled: false });
  }

  async #renew(): Promise<void> {
    const running = [...this.live.running];
    if (running.length === 0) return;
    const { database, clock } = this.parts;
    const until = clock.now() + leaseMs;
    const renewed = await database.note((transaction) => renewLeases(transaction, this.owner, until));
    // A computer that resumed from sleep may have lost its leases to another host.
    for (const { id, attempt } of running) if (!renewed.has(id)) attempt?.interrupt();
  }

  async #releaseExpired(): Promise<void> {
    const { database, clock, hosts, log } = this.parts;
    if (hosts !== undefined) {
      const owners = await listOwners(database.kysely, this.owner);
      if (owners.length === 0) return;
      this.#ended = await hosts.findEnded(owners.flatMap((owner) => findHostId(owner) ?? []));
    }
    for (const kindState of this.kinds.values()) kindState.unreported = kindState.handling.onDead !== undefined;
    const jobs = await database.note((transaction) =>
      releaseExpired(transaction, clock.now(), this.owner, (owner, until) => this.isAbandoned(owner, until)),
    );
    if (jobs === 0) return;
    log.info('jobs of ended worker resumed', { jobs });
    this.checkAllKinds();
  }
}
