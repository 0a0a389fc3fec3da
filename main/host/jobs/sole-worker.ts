import type { Kysely } from 'kysely';
import { createAlarm, type Alarm } from './alarm.ts';
import { adopt, claimAlone, type ClaimRequest } from './claim.ts';
import type { CompletionJournal } from './completion-journal.ts';
import type { KindState } from './kind-state.ts';
import type { LiveJob } from './live-jobs.ts';
import type { Outcome } from './job-end.ts';
import { parse } from './parse.ts';
import { readReplay, type Replay } from './replay.ts';
import { link, Tails, unlink } from './successors.ts';
import { countCrash, releaseAllFirst, releaseAll, type InsertedJob, type JobRow } from './table.ts';
import { Worker, type WorkerDependencies } from './worker.ts';

/** Time after which jobs that started without a claim are marked as running. */
const adoptMs = 250;
/** Time for which journaled ends are collected before they are written to the table, and their maximum number. */
const gatherMs = 100;
const maxGathered = 128;
/** Maximum number of blocked jobs in memory; others are read from the table when they are due. */
const maxBlocked = 10_000;
/** Covers clock jumps, which the alarm misses. */
const pollEveryMs = 60_000;
const noOwner: ReadonlySet<number> = new Set();

/**
 * Worker with exclusive use of its database. Jobs enqueued in this process start without a claim once their commit is
 * on the disk, and blocked ones once the end of their predecessor is journaled; the table gets ends in batches.
 * Anything uncertain is left to claims. After a crash, jobs that are not in the journal wait as if they had not
 * started.
 * Wakes come before the commit they announce. None is lost: there is one connection, so the transaction of a turn
 * begins after the other one has ended.
 */
export class SoleWorker extends Worker {
  readonly #journal: CompletionJournal;
  /** Ends that the previous process journaled, by kind, until a handler for the kind exists. */
  readonly #replay: Replay;
  readonly #tails = new Tails();
  readonly #gatherAlarm: Alarm;
  readonly #adoption: Alarm;
  /** Jobs have been running for a while, and the table may not show them. */
  #isAdopting = false;

  private constructor(parts: WorkerDependencies, journal: CompletionJournal, replay: Replay) {
    super(parts);
    this.#journal = journal;
    this.#replay = replay;
    const { clock } = parts;
    this.timers.use(clock.every(pollEveryMs, () => this.checkAllKinds()));
    this.#gatherAlarm = this.timers.use(createAlarm(clock, () => this.#scheduleStore(this.live.ended > 0)));
    this.#adoption = this.timers.use(
      createAlarm(clock, () => {
        this.#isAdopting = this.live.running.size > 0;
        this.#scheduleStore(this.#isAdopting);
      }),
    );
  }

  /** Running rows belong to a previous process, since no other one uses the table. */
  static async open(parts: WorkerDependencies, journal: CompletionJournal): Promise<SoleWorker> {
    const { database, clock, log, isAfterCrash } = parts;
    const suspects = await database.note(async (transaction) => {
      const stopped = isAfterCrash ? await countCrash(transaction, clock.now()) : [];
      await releaseAll(transaction, clock.now());
      await releaseAllFirst(transaction);
      return stopped;
    });
    for (const { id, kind } of suspects) log.error('job stopped after repeated crashes', { kind, id });
    return new SoleWorker(parts, journal, await readReplay(database.kysely, journal.previousEnds));
  }

  override handle(registration: Pick<KindState, 'kind' | 'handler' | 'handling'>): Disposable {
    const handle = super.handle(registration);
    const kindState = this.kinds.get(registration.kind.name);
    if (kindState !== undefined) this.#resumeReplay(kindState);
    return handle;
  }

  enqueued(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void {
    const kindState = this.kinds.get(kind);
    const now = this.parts.clock.now();
    const added: { readonly job: LiveJob; readonly held: boolean }[] = [];
    for (const { row, held } of jobs) {
      // A held job becomes due with the end of its predecessor, unless it is scheduled even later.
      const isAwaited = row.run_at > now || (settling === undefined && !held);
      if (kindState !== undefined && isAwaited) this.scheduleDue(kindState, row.run_at);
      const job = settling && this.settle(row, settling);
      const before = this.#tails.follow(row, job);
      if (job === undefined) continue;
      if (held && before !== undefined) link(before, job);
      added.push({ job, held });
    }
    void settling?.then((isStored) => {
      for (const { job, held } of added) if (job.state === 'settling') this.#settled(job, held, isStored);
      this.turns.schedule();
    });
  }

  override dropped(kind: string, id: number): void {
    const previousEnds = this.#replay.get(kind)?.filter(({ row }) => row.id !== id) ?? [];
    if (previousEnds.length > 0) this.#replay.set(kind, previousEnds);
    else this.#replay.delete(kind);
    super.dropped(kind, id);
  }

  protected claim(transaction: Kysely<any>, ask: ClaimRequest): Promise<readonly JobRow[]> {
    return claimAlone(transaction, ask, {
      count: this.live.running.size,
      isBehind: (row) => this.live.runsBeside(row),
    });
  }

  /** No other process uses the table. */
  protected isAbandoned(): boolean {
    return true;
  }

  protected override begin(job: LiveJob, kindState: KindState): void {
    unlink(job);
    super.begin(job, kindState);
    this.#adoption.scheduleBy(this.parts.clock.now() + adoptMs);
  }

  protected ended(job: LiveJob, kindState: KindState, outcome: Outcome): void {
    const journaled = outcome.how === 'done' && this.#note(kindState, job.row, outcome.result);
    const end = { kindState, outcome, journaled, isFollowed: false };
    this.end(job, end);
    const next = job.behind;
    // Other jobs may have waited longer for the last free slot: the table decides.
    const isWanted = kindState.due && kindState.free <= 1;
    if (journaled && next?.state === 'blocked' && !isWanted && this.acceptsJobs(kindState)) {
      end.isFollowed = true;
      this.begin(next, kindState);
    } else {
      // Its successors have to wait for an unknown time; the table has them. A settling one handles this itself.
      if (next?.state === 'blocked') this.forget(next);
      if (next?.state !== 'settling') this.isUrgent ||= !this.#tails.isLast(job);
    }
    if (!journaled) return;
    this.notifyListeners([end], noOwner);
    this.isUrgent ||= this.live.ended >= maxGathered;
    // Journaled ends are collected.
    if (!this.isUrgent && !this.isStopping) this.#gatherAlarm.scheduleBy(this.parts.clock.now() + gatherMs);
  }

  /** Leaves a job to the table, together with the jobs blocked by it. */
  protected override forget(job: LiveJob): void {
    for (let each: LiveJob | undefined = job; each !== undefined;) {
      const behind: LiveJob | undefined = each.behind;
      unlink(each);
      this.#tails.forget(each);
      super.forget(each);
      if (behind !== undefined) unlink(behind);
      each = behind?.state === 'blocked' ? behind : undefined;
    }
  }

  protected override async writeExtra(transaction: Kysely<any>): Promise<void> {
    if (!this.#isAdopting) return;
    const running = [...this.live.running].map(({ id }) => id);
    if (running.length > 0) await adopt(transaction, running, this.owner, this.parts.clock.now());
  }

  protected override turnStored(): void {
    this.#isAdopting = false;
    // New ends in the meantime are only in the journal.
    const isNeeded = [...this.live.endedJobs].some(({ end }) => end?.journaled === true);
    if (!isNeeded) this.#journal.clear(this.#replay.size > 0);
  }

  /** Handles the commit or rollback of a job's row. */
  #settled(job: LiveJob, held: boolean, isStored: boolean): void {
    const { row } = job;
    const kindState = this.kinds.get(row.kind);
    const now = this.parts.clock.now();
    const before = job.before;
    job.settled = undefined;
    if (isStored && kindState !== undefined && this.acceptsJobs(kindState) && row.run_at <= now) {
      const isBlocked = before?.state === 'running' || before?.state === 'blocked';
      if (isBlocked && this.live.size < maxBlocked) return this.live.move(job, 'blocked');
      const isFirst = !held || (before?.state === 'ended' && before.end?.journaled === true);
      const { due, claiming, free } = kindState;
      if (isFirst && !due && !claiming && free > 0 && !this.live.runsBeside(row)) {
        if (before?.end !== undefined) before.end.isFollowed = true;
        return this.begin(job, kindState);
      }
    }
    this.forget(job);
    if (!held && kindState !== undefined) this.scheduleDue(kindState, row.run_at);
    // The table then decides about the next job.
    this.isUrgent ||= before?.state === 'ended';
  }

  /**
   * Takes over jobs that the previous process completed without marking them. Results that `result` no longer parses
   * are repeated.
   */
  #resumeReplay(kindState: KindState): void {
    const { kind, handling } = kindState;
    const previousEnds = this.#replay.get(kind.name) ?? [];
    this.#replay.delete(kind.name);
    for (const { row, result } of previousEnds) {
      const read = (handling.result && parse(handling.result, result)) ?? { success: true, data: result };
      if (read.success) {
        const outcome = { row, how: 'done', result: read.data } as const;
        this.end(this.live.of(row), { kindState, outcome, journaled: true });
        this.isUrgent = true;
      } else {
        this.parts.log.warn('journaled job result unreadable, job repeated', { kind: kind.name, id: row.id });
      }
    }
  }

  /**
   * Journals the part of a result that `record` needs; without a schema, the result must be stored together with the
   * mark.
   */
  #note({ handling }: KindState, row: JobRow, result: unknown): boolean {
    if (handling.record !== undefined && handling.result === undefined) return false;
    const journaledResult = handling.result && parse(handling.result, result);
    return journaledResult?.success !== false && this.#journal.add(row, journaledResult?.data);
  }

  #scheduleStore(isUrgent: boolean): void {
    this.isUrgent ||= isUrgent;
    this.turns.schedule();
  }
}
