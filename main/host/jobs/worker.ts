import type { Kysely } from 'kysely';
import type { Clock, Log, Random } from '../../../services/contracts/service.ts';
import type { Counter } from '../../../services/contracts/metrics.ts';
import type { Database } from '../database/open.ts';
import { createAlarm, type Alarm } from './alarm.ts';
import { runAttempt } from './attempt.ts';
import type { Ask } from './claim.ts';
import { DeadLetters } from './dead-letters.ts';
import type { JobEnd, Outcome } from './job-end.ts';
import { openKindState, type KindState } from './kind-state.ts';
import { LiveJobs, type LiveJob } from './live-jobs.ts';
import { leaseOwner } from './owner.ts';
import { tellEnds } from './results.ts';
import type { InsertedJob, JobRow } from './table.ts';
import { TurnCommits, type Claim } from './turn-commits.ts';
import { Turns } from './turns.ts';

/** When the host stops, handlers have this long to heed the abort. */
const graceMs = 4_000;

export interface WorkerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Labels: kind, outcome. */
  readonly finished: Counter;
}

/**
 * Claims due jobs, runs their handlers and writes how they ended. The table is touched in turns: one transaction writes
 * what ended since the last turn and claims for the slots that are free. This is what the worker that is alone with its
 * table (`sole-worker.ts`) and the one that shares it (`shared-worker.ts`) have in common.
 */
export abstract class Worker implements AsyncDisposable {
  protected readonly parts: WorkerParts;
  protected readonly kinds = new Map<string, KindState>();
  protected readonly live = new LiveJobs();
  protected readonly owner: string;
  protected readonly turns: Turns;
  /** The table has to be told of something at once. */
  protected isUrgent = false;
  protected isStopping = false;
  /** What ends when the worker stops. */
  protected readonly timers = new DisposableStack();
  readonly #alarm: Alarm;
  readonly #deadLetters: DeadLetters;
  readonly #commits: TurnCommits;
  #stopped: Promise<void> | undefined;

  protected constructor(parts: WorkerParts) {
    const { clock, database, log, random } = parts;
    this.parts = parts;
    this.owner = leaseOwner(random.text(8));
    this.turns = new Turns({ clock, log, hasWork: () => this.#hasWork(), turn: () => this.#turn() });
    this.#deadLetters = new DeadLetters({
      ...{ database, clock, log, owner: this.owner },
      isLeft: (owner, until) => this.isLeft(owner, until),
    });
    this.#commits = new TurnCommits({
      ...{ database, clock, owner: this.owner, live: this.live, deadLetters: this.#deadLetters },
      claim: (transaction, ask) => this.claim(transaction, ask),
      writeBesides: (transaction) => this.writeBesides(transaction),
    });
    this.#alarm = this.timers.use(createAlarm(clock, () => this.lookAtAll()));
  }

  /** Takes note of jobs that were enqueued here, in a transaction that may be open still; `settling` tells of its end. */
  abstract enqueued(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void;

  handle(given: Pick<KindState, 'kind' | 'handler' | 'handling'>): Disposable {
    const { name } = given.kind;
    if (this.kinds.has(name)) throw new Error(`jobs of kind ${name} have a handler already`);
    const kindState = openKindState(given);
    this.kinds.set(name, kindState);
    for (const outcome of ['done', 'retried', 'dead']) this.parts.finished.inc({ kind: name, outcome }, 0);
    this.turns.schedule();
    return {
      [Symbol.dispose]: () => {
        if (this.kinds.get(name) === kindState) this.kinds.delete(name);
      },
    };
  }

  /** Says that a job of this kind may be due. */
  wake(kind: string): void {
    const kindState = this.kinds.get(kind);
    if (kindState !== undefined) kindState.due = true;
    this.turns.schedule();
  }

  /** Forgets a job that is about to be dropped; false when it has begun. */
  drop(id: number): boolean {
    const job = this.live.get(id);
    if (job?.state === 'settling' || job?.state === 'blocked') this.forget(job);
    return this.live.get(id) === undefined;
  }

  /** A job was dropped, whose end others may have waited for. */
  dropped(kind: string, _id: number): void {
    this.wake(kind);
  }

  /** Resolves when all that ended so far stands in the table, or the table refuses. */
  async upToDate(): Promise<void> {
    if (this.live.over.size > 0 || this.turns.isTurning) await this.turns.next();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  /** Claims in the transaction of a turn. */
  protected abstract claim(transaction: Kysely<any>, ask: Ask): Promise<readonly JobRow[]>;

  /** Whether the one who was to tell of a dead letter does so no more. */
  protected abstract isLeft(owner: string, until: number): boolean;

  /** The attempt at a job is over: keeps its end for the next turn. */
  protected abstract ended(job: LiveJob, kindState: KindState, outcome: Outcome): void;

  /** Writes what else the table is to know, between the ends and the claims of a turn. */
  protected async writeBesides(_transaction: Kysely<any>): Promise<void> {
    // Nothing, unless a worker has something.
  }

  /** Called when a turn is stored. */
  protected turnStored(): void {
    // Nothing follows, unless a worker has something.
  }

  /** Takes up a job whose row a power cut could still take back: it does not run before `settled`. */
  protected settle(row: JobRow, settled: Promise<boolean>): LiveJob | undefined {
    const known = this.live.get(row.id);
    // The row of a transaction that was given up had this id.
    if (known?.state === 'settling') this.forget(known);
    else if (known !== undefined) return undefined;
    const job = this.live.of(row);
    job.settled = settled;
    this.live.move(job, 'settling');
    return job;
  }

  /** Leaves a job to the table. */
  protected forget(job: LiveJob): void {
    this.live.move(job, 'stored');
  }

  /** A job of this kind falls due at a time. */
  protected expect(kindState: KindState, at: number): void {
    if (this.isStopping) return;
    if (at > this.parts.clock.now()) return this.#alarm.ringBy(at);
    kindState.due = true;
    this.turns.schedule();
  }

  /** There may be due jobs nobody told of. */
  protected lookAtAll(): void {
    for (const kindState of this.kinds.values()) kindState.due = true;
    this.turns.schedule();
  }

  /** Begins the attempt at a job. */
  protected begin(job: LiveJob, kindState: KindState): void {
    const { row } = job;
    this.live.move(job, 'running');
    kindState.free -= 1;
    job.attempt = runAttempt(kindState, row, this.parts, job.settled);
    job.over = job.attempt.ended.then((outcome) => {
      kindState.free += 1;
      this.ended(job, kindState, outcome);
      this.turns.schedule();
    });
  }

  /** Keeps the end of a job for the next turn, which comes at once unless it is journaled. */
  protected end(job: LiveJob, end: JobEnd): void {
    this.live.move(job, 'ended');
    job.end = end;
    this.isUrgent ||= !end.journaled;
    const { how, row } = end.outcome;
    const now = this.kinds.get(row.kind);
    if (now !== undefined && how === 'returned') now.due = true;
  }

  protected tell(ends: readonly JobEnd[], dead: ReadonlySet<number>): void {
    tellEnds(ends, dead, this.parts);
    this.#deadLetters.tell(ends, dead);
  }

  /** Whether jobs may begin for this handler. */
  protected takes(kindState: KindState): boolean {
    return !this.isStopping && this.kinds.get(kindState.kind.name) === kindState;
  }

  #hasWork(): boolean {
    if (this.isUrgent) return true;
    for (const { due, free } of this.kinds.values()) if (due && free > 0) return true;
    return false;
  }

  async #turn(): Promise<void> {
    const jobs = [...this.live.over];
    for (const job of jobs) this.live.move(job, 'storing');
    const ends = jobs.flatMap(({ end }) => end ?? []);
    const asked = this.#askedFor(ends);
    for (const kindState of asked) [kindState.due, kindState.claiming] = [false, true];
    this.isUrgent = false;
    try {
      const { dead, claims } = await this.#commits.store(ends, asked);
      for (const job of jobs) this.forget(job);
      this.turnStored();
      for (const claim of claims) this.#take(claim);
      for (const { kindState, outcome } of ends) {
        if (outcome.how === 'retried') this.expect(kindState, outcome.runAt);
      }
      this.tell(
        ends.filter(({ journaled }) => !journaled),
        dead,
      );
    } catch (error) {
      for (const job of jobs) this.live.move(job, 'ended');
      for (const kindState of asked) kindState.due = true;
      this.isUrgent = true;
      throw error;
    } finally {
      for (const kindState of asked) kindState.claiming = false;
    }
  }

  /** Kinds that may have due jobs: whatever came of one of an order key, another of it may be due now. */
  #askedFor(ends: readonly JobEnd[]): readonly KindState[] {
    if (this.isStopping) return [];
    const freed = new Set(ends.flatMap((end) => (isFollowed(end) ? [] : [end.outcome.row.kind])));
    return [...this.kinds.values()].filter(({ kind, due, free }) => (due && free > 0) || freed.has(kind.name));
  }

  #take({ kindState, rows, next, untold }: Claim): void {
    kindState.untold = false;
    this.#deadLetters.tellTaken(kindState, untold);
    if (next === undefined) kindState.due = true;
    else this.expect(kindState, next);
    for (const row of rows) this.#begin(kindState, row);
  }

  /** Begins what was claimed, unless it is known to have begun: without a claim, or one that the database forgot. */
  #begin(kindState: KindState, row: JobRow): void {
    const job = this.live.of(row);
    if (job.state === 'running' || job.state === 'ended' || job.state === 'storing') return;
    job.row = row;
    if (this.takes(kindState) && !this.live.runsBeside(row)) return this.begin(job, kindState);
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
    await Promise.all(running.flatMap(({ over }) => over ?? []));
    try {
      if (this.live.over.size > 0) await this.#turn();
    } catch (error) {
      // They are taken up again at the next start, as after a crash.
      this.parts.log.warn('jobs could not be given back', { jobs: this.live.over.size, error });
    }
    await this.#deadLetters.settled(graceMs);
  }
}

/** Nobody of its order key waits for the table to tell that it ended. */
function isFollowed({ outcome, followed }: JobEnd): boolean {
  return outcome.row.order_key === null || followed === true;
}
