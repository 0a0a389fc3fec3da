import type { Kysely } from 'kysely';
import { claimBesideOthers, leaseMs, type Ask } from './claim.ts';
import type { KindState } from './kind-state.ts';
import { hasLapsed, renewLeases, takeBack } from './leases.ts';
import type { LiveJob } from './live-jobs.ts';
import type { Outcome } from './job-end.ts';
import { letAllFirstGo, type InsertedJob, type JobRow } from './table.ts';
import { Worker, type WorkerParts } from './worker.ts';

const renewEveryMs = 20_000;
/** For jobs that other hosts enqueued; no wake tells of them. */
const pollEveryMs = 5_000;
/** A claim may come before the commit of a transaction that is not one of ours, and miss its jobs. */
const lookAgainMs = 250;

/**
 * The worker of a host that shares its table with others. Only what is claimed runs; the claim is a lease, which is
 * prolonged while the host lives and taken back by the others afterwards. Each end is stored at once.
 */
export class SharedWorker extends Worker {
  static async open(parts: WorkerParts): Promise<SharedWorker> {
    const { clock, database } = parts;
    const worker = new SharedWorker(parts);
    await worker.#takeBack();
    await database.note(letAllFirstGo);
    const poll = async (): Promise<void> => {
      await database.note(letAllFirstGo);
      worker.lookAtAll();
    };
    for (const work of [() => worker.#renew(), () => worker.#takeBack()]) {
      worker.timers.use(clock.every(renewEveryMs, worker.#oneAtATime(work)));
    }
    worker.timers.use(clock.every(pollEveryMs, worker.#oneAtATime(poll)));
    return worker;
  }

  enqueued(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void {
    const settled = settling === undefined ? [] : jobs.map(({ row }) => this.settle(row, settling));
    void settling?.then(() => {
      for (const job of settled) if (job?.state === 'settling') this.forget(job);
    });
    const kindState = this.kinds.get(kind);
    const now = this.parts.clock.now();
    // What is held comes with the end of the one before it, unless it is to wait even longer.
    const awaited = jobs.filter(({ row, held }) => !held || row.run_at > now);
    if (kindState === undefined || awaited.length === 0) return;
    for (const { row } of awaited) this.expect(kindState, row.run_at);
    if (settling === undefined) this.expect(kindState, now + lookAgainMs);
  }

  protected claim(transaction: Kysely<any>, ask: Ask): Promise<readonly JobRow[]> {
    return claimBesideOthers(transaction, ask);
  }

  protected isLeft(owner: string, until: number): boolean {
    return hasLapsed(owner, until, this.parts.clock.now());
  }

  protected ended(job: LiveJob, kindState: KindState, outcome: Outcome): void {
    this.end(job, { kindState, outcome, journaled: false });
  }

  async #renew(): Promise<void> {
    const running = [...this.live.running];
    if (running.length === 0) return;
    const { database, clock } = this.parts;
    const until = clock.now() + leaseMs;
    const ours = await database.note((transaction) => renewLeases(transaction, this.owner, until));
    // A machine that slept may have lost its leases to another host.
    for (const { id, attempt } of running) if (!ours.has(id)) attempt?.interrupt();
  }

  async #takeBack(): Promise<void> {
    const { database, clock, log } = this.parts;
    for (const kindState of this.kinds.values()) kindState.untold = kindState.handling.onDead !== undefined;
    const jobs = await database.note((transaction) => takeBack(transaction, clock.now(), this.owner));
    if (jobs === 0) return;
    log.info('took up jobs of a worker that ended', { jobs });
    this.lookAtAll();
  }

  /** Not again while it is under way: a database that hangs must not gather a queue. */
  #oneAtATime(work: () => Promise<void>): () => void {
    let isBusy = false;
    return () => {
      if (isBusy) return;
      isBusy = true;
      work()
        .catch((error: unknown) => this.parts.log.warn('the database refuses, jobs wait', { error }))
        .finally(() => (isBusy = false));
    };
  }
}
