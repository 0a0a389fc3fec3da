import type { Kysely } from 'kysely';
import type { Clock, Log, Random } from '../../../services/contracts/service.ts';
import type { Leases } from '../../../services/contracts/leases.ts';
import type { Counter } from '../../../services/contracts/metrics.ts';
import type { Database } from '../database/open.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import { createAlarm, type Alarm } from './alarm.ts';
import { runAttempt } from './attempt.ts';
import type { ClaimRequest } from './claim.ts';
import { DeadLetters } from './dead-letters.ts';
import type { JobEnd, Outcome } from './job-end.ts';
import { openKindState, type KindState } from './kind-state.ts';
import { LiveJobs, type LiveJob } from './live-jobs.ts';
import { leaseOwner } from './owner.ts';
import { notifyEnds } from './results.ts';
import type { InsertedJob, JobRow } from './table.ts';
import { TurnCommits, type Claim } from './turn-commits.ts';
import { Turns } from './turns.ts';

/** Time for handlers to react to the abort when the host stops. */
const graceMs = 4_000;

export interface WorkerDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Labels: kind, outcome. */
  readonly finished: Counter;
  /** Hosts that share the table; without it, only the times of the leases decide which hosts have ended. */
  readonly hosts?: Pick<Leases, 'hostId' | 'findEnded'>;
  /** An error ended the previous process, which one of its running jobs may have caused. */
  readonly isAfterCrash: boolean;
}

/**
 * Claims due jobs, runs their handlers and stores the outcomes. Turns access the table: one transaction writes what
 * ended since the last turn and claims jobs for the free slots. Common base of the worker with exclusive use of its
 * table (`sole-worker.ts`) and the one that shares it (`shared-worker.ts`).
 */
export abstract class Worker implements AsyncDisposable {
  protected readonly parts: WorkerDependencies;
  protected readonly kinds = new Map<string, KindState>();
  protected readonly live = new LiveJobs();
  protected readonly owner: string;
  protected readonly turns: Turns;
  /** The table must be updated immediately. */
  protected isUrgent = false;
  protected isStopping = false;
  /** Disposed when the worker stops. */
  protected readonly timers = new DisposableStack();
  readonly #alarm: Alarm;
  readonly #deadLetters: DeadLetters;
  readonly #commits: TurnCommits;
  #stopped: Promise<void> | undefined;

  protected constructor(parts: WorkerDependencies) {
    const { clock, database, hosts, log, random } = parts;
    this.parts = parts;
    const name = random.text(8);
    this.owner = leaseOwner(hosts === undefined ? name : `${hosts.hostId}/${name}`);
    this.turns = new Turns({ clock, log, hasWork: () => this.#hasWork(), turn: () => this.#turn() });
    this.#deadLetters = new DeadLetters({
      database,
      clock,
      log,
      owner: this.owner,
      isAbandoned: (owner, until) => this.isAbandoned(owner, until),
    });
    this.#commits = new TurnCommits({
      database,
      clock,
      owner: this.owner,
      live: this.live,
      deadLetters: this.#deadLetters,
      claim: (transaction, request) => this.claim(transaction, request),
      writeExtra: (transaction) => this.writeExtra(transaction),
    });
    this.#alarm = this.timers.use(createAlarm(clock, () => this.checkAllKinds()));
  }

  /**
   * Handles jobs that were enqueued in this process, in a transaction that may still be open; `settling` reports its
   * end.
   */
  abstract enqueued(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void;

  handle(registration: Pick<KindState, 'kind' | 'handler' | 'handling'>): Disposable {
    const { name } = registration.kind;
    if (this.kinds.has(name)) throw new Error(`jobs of kind ${name} have a handler already`);
    const kindState = openKindState(registration);
    this.kinds.set(name, kindState);
    for (const outcome of ['done', 'retried', 'dead']) this.parts.finished.inc({ kind: name, outcome }, 0);
    this.turns.schedule();
    return {
      [Symbol.dispose]: () => {
        if (this.kinds.get(name) === kindState) this.kinds.delete(name);
      },
    };
  }

  /** Reports that a job of this kind may be due. */
  wake(kind: string): void {
    const kindState = this.kinds.get(kind);
    if (kindState !== undefined) kindState.due = true;
    this.turns.schedule();
  }

  /** Forgets a job before it is dropped; returns false when it has started. */
  drop(id: number): boolean {
    const job = this.live.get(id);
    if (job?.state === 'settling' || job?.state === 'blocked') this.forget(job);
    return this.live.get(id) === undefined;
  }

  /** Handles a dropped job, whose successors may have waited for it. */
  dropped(kind: string, _id: number): void {
    this.wake(kind);
  }

  /** Resolves when all previous ends are in the table, or the table refuses. */
  async upToDate(): Promise<void> {
    if (this.live.endedJobs.size > 0 || this.turns.isTurning) await this.turns.next();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  /** Claims jobs in the transaction of a turn. */
  protected abstract claim(transaction: Kysely<any>, request: ClaimRequest): Promise<readonly JobRow[]>;

  /** Returns whether the owner that was to report a dead letter no longer does. */
  protected abstract isAbandoned(owner: string, until: number): boolean;

  /** Handles the end of an attempt: stores it for the next turn. */
  protected abstract ended(job: LiveJob, kindState: KindState, outcome: Outcome): void;

  /** Writes further changes between the ends and the claims of a turn. */
  protected async writeExtra(_transaction: Kysely<any>): Promise<void> {
    // Overridden where needed.
  }

  /** Called after a turn was stored. */
  protected turnStored(): void {
    // Overridden where needed.
  }

  /** Adds a job whose row a power failure could still remove: it does not run before `settled`. */
  protected settle(row: JobRow, settled: Promise<boolean>): LiveJob | undefined {
    const existing = this.live.get(row.id);
    // A rolled back row had the same id.
    if (existing?.state === 'settling') this.forget(existing);
    else if (existing !== undefined) return undefined;
    const job = this.live.of(row);
    job.settled = settled;
    this.live.move(job, 'settling');
    return job;
  }

  /** Leaves a job to the table. */
  protected forget(job: LiveJob): void {
    this.live.move(job, 'stored');
  }

  /** Registers the time when a job of this kind is due. */
  protected scheduleDue(kindState: KindState, at: number): void {
    if (this.isStopping) return;
    if (at > this.parts.clock.now()) return this.#alarm.scheduleBy(at);
    kindState.due = true;
    this.turns.schedule();
  }

  /** Checks all kinds, since jobs may be due without a notice. */
  protected checkAllKinds(): void {
    for (const kindState of this.kinds.values()) kindState.due = true;
    this.turns.schedule();
  }

  /** Starts the attempt of a job. */
  protected begin(job: LiveJob, kindState: KindState): void {
    this.live.move(job, 'running');
    kindState.free -= 1;
    // An attempt outlives the request that enqueued the job, and its error is stored for all readers.
    runOutsideRequests(() => {
      job.attempt = runAttempt(kindState, job.row, this.parts, job.settled);
      job.finished = job.attempt.ended.then((outcome) => {
        kindState.free += 1;
        this.ended(job, kindState, outcome);
        this.turns.schedule();
      });
    });
  }

  /** Stores the end of a job for the next turn, which starts immediately unless the end is journaled. */
  protected end(job: LiveJob, end: JobEnd): void {
    this.live.move(job, 'ended');
    job.end = end;
    this.isUrgent ||= !end.journaled;
    const { how, row } = end.outcome;
    const now = this.kinds.get(row.kind);
    if (now !== undefined && how === 'returned') now.due = true;
  }

  protected notifyListeners(ends: readonly JobEnd[], dead: ReadonlySet<number>): void {
    notifyEnds(ends, dead, this.parts);
    this.#deadLetters.report(ends, dead);
  }

  /** Returns whether jobs of this kind may start. */
  protected acceptsJobs(kindState: KindState): boolean {
    return !this.isStopping && this.kinds.get(kindState.kind.name) === kindState;
  }

  #hasWork(): boolean {
    if (this.isUrgent) return true;
    for (const { due, free } of this.kinds.values()) if (due && free > 0) return true;
    return false;
  }

  async #turn(): Promise<void> {
    const jobs = [...this.live.endedJobs];
    for (const job of jobs) this.live.move(job, 'storing');
    const ends = jobs.flatMap(({ end }) => end ?? []);
    const requestedKinds = this.#getRequestedKinds(ends);
    for (const kindState of requestedKinds) [kindState.due, kindState.claiming] = [false, true];
    this.isUrgent = false;
    try {
      const { dead, claims } = await this.#commits.store(ends, requestedKinds);
      for (const job of jobs) this.forget(job);
      this.turnStored();
      for (const claim of claims) this.#takeClaim(claim);
      for (const { kindState, outcome } of ends) {
        if (outcome.how === 'retried') this.scheduleDue(kindState, outcome.runAt);
      }
      this.notifyListeners(
        ends.filter(({ journaled }) => !journaled),
        dead,
      );
    } catch (error) {
      for (const job of jobs) this.live.move(job, 'ended');
      for (const kindState of requestedKinds) kindState.due = true;
      this.isUrgent = true;
      throw error;
    } finally {
      for (const kindState of requestedKinds) kindState.claiming = false;
    }
  }

  /** Returns the kinds that may have due jobs: after the end of one job of an order key, another may be due. */
  #getRequestedKinds(ends: readonly JobEnd[]): readonly KindState[] {
    if (this.isStopping) return [];
    const freed = new Set(ends.flatMap((end) => (isFollowed(end) ? [] : [end.outcome.row.kind])));
    return [...this.kinds.values()].filter(({ kind, due, free }) => (due && free > 0) || freed.has(kind.name));
  }

  #takeClaim({ kindState, rows, next, unreported }: Claim): void {
    kindState.unreported = false;
    this.#deadLetters.reportTaken(kindState, unreported);
    if (next === undefined) kindState.due = true;
    else this.scheduleDue(kindState, next);
    for (const row of rows) this.#begin(kindState, row);
  }

  /** Starts a claimed job, unless it has already started: without a claim, or with one that the database lost. */
  #begin(kindState: KindState, row: JobRow): void {
    const job = this.live.of(row);
    if (job.state === 'running' || job.state === 'ended' || job.state === 'storing') return;
    job.row = row;
    if (this.acceptsJobs(kindState) && !this.live.runsBeside(row)) return this.begin(job, kindState);
    this.live.move(job, 'running');
    this.end(job, { kindState, outcome: { row, how: 'returned' }, journaled: false });
  }

  async #stop(): Promise<void> {
    this.isStopping = true;
    this.timers.dispose();
    await this.turns.close();
    const running = [...this.live.running];
    for (const { attempt } of running) attempt?.interrupt();
    using _grace = this.parts.clock.after(graceMs, () => running.forEach(({ attempt }) => attempt?.abandon()));
    await Promise.all(running.flatMap(({ finished }) => finished ?? []));
    try {
      if (this.live.endedJobs.size > 0) await this.#turn();
    } catch (error) {
      // They are resumed at the next start, as after a crash.
      this.parts.log.warn('jobs release failed', { jobs: this.live.endedJobs.size, error });
    }
    await this.#deadLetters.settled(graceMs);
  }
}

/** Returns false when a job of the order key waits for the table to report the end. */
function isFollowed({ outcome, isFollowed: followed }: JobEnd): boolean {
  return outcome.row.order_key === null || followed === true;
}
