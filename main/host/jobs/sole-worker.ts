import type { Kysely } from 'kysely';
import { createAlarm, type Alarm } from './alarm.ts';
import { adopt, claimAlone, type Ask } from './claim.ts';
import type { CompletionJournal } from './completion-journal.ts';
import type { KindState } from './kind-state.ts';
import type { LiveJob } from './live-jobs.ts';
import type { Outcome } from './job-end.ts';
import { parse } from './parse.ts';
import { readReplay, type Replay } from './replay.ts';
import { link, Tails, unlink } from './successors.ts';
import { letAllFirstGo, releaseAll, type InsertedJob, type JobRow } from './table.ts';
import { Worker, type WorkerParts } from './worker.ts';

/** What was begun without a claim is shown as running after this time. */
const adoptMs = 250;
/** So long ends that are journaled are gathered for the table, and so many. */
const gatherMs = 100;
const mostGathered = 128;
/** Jobs behind others that are kept in memory; the others are read from the table when their time comes. */
const mostBlocked = 10_000;
/** A clock that leaps leaves the alarm behind. */
const pollEveryMs = 60_000;
const nobody: ReadonlySet<number> = new Set();

/**
 * The worker that is alone with its database. What was enqueued here begins without a claim once its commit is on the
 * disk, and one behind another of its order key when the end of that is journaled; the table hears of many ends at once.
 * What is not known here for certain is left to the claims. After a crash, what the journal does not tell of waits as if it
 * had not begun.
 *
 * Wakes come before the commit they tell of. That loses none: there is one connection, so the transaction of a turn begins
 * after the other has ended.
 */
export class SoleWorker extends Worker {
  readonly #journal: CompletionJournal;
  /** Ends the process before had journaled, by kind: they wait for who works it. */
  readonly #replay: Replay;
  readonly #tails = new Tails();
  readonly #gathering: Alarm;
  readonly #adoption: Alarm;
  /** Something has run for a while, and the table may not show it. */
  #isAdopting = false;

  private constructor(parts: WorkerParts, journal: CompletionJournal, replay: Replay) {
    super(parts);
    this.#journal = journal;
    this.#replay = replay;
    const { clock } = parts;
    this.timers.use(clock.every(pollEveryMs, () => this.lookAtAll()));
    this.#gathering = this.timers.use(createAlarm(clock, () => this.#hurry(this.live.ended > 0)));
    this.#adoption = this.timers.use(
      createAlarm(clock, () => {
        this.#isAdopting = this.live.running.size > 0;
        this.#hurry(this.#isAdopting);
      }),
    );
  }

  /** Nobody else works with the table: what runs there has been left by a process that ended. */
  static async open(parts: WorkerParts, journal: CompletionJournal): Promise<SoleWorker> {
    const { database, clock } = parts;
    await database.note(async (transaction) => {
      await releaseAll(transaction, clock.now());
      await letAllFirstGo(transaction);
    });
    return new SoleWorker(parts, journal, await readReplay(database.kysely, journal.left));
  }

  override handle(given: Pick<KindState, 'kind' | 'handler' | 'handling'>): Disposable {
    const handle = super.handle(given);
    const kindState = this.kinds.get(given.kind.name);
    if (kindState !== undefined) this.#takeReplay(kindState);
    return handle;
  }

  enqueued(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void {
    const kindState = this.kinds.get(kind);
    const now = this.parts.clock.now();
    const added: { readonly job: LiveJob; readonly held: boolean }[] = [];
    for (const { row, held } of jobs) {
      // What is held comes with the end of the one before it, unless it is to wait even longer.
      const isAwaited = row.run_at > now || (settling === undefined && !held);
      if (kindState !== undefined && isAwaited) this.expect(kindState, row.run_at);
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
    const left = this.#replay.get(kind)?.filter(({ row }) => row.id !== id) ?? [];
    if (left.length > 0) this.#replay.set(kind, left);
    else this.#replay.delete(kind);
    super.dropped(kind, id);
  }

  protected claim(transaction: Kysely<any>, ask: Ask): Promise<readonly JobRow[]> {
    return claimAlone(transaction, ask, {
      count: this.live.running.size,
      isBehind: (row) => this.live.runsBeside(row),
    });
  }

  /** Nobody else works with the table. */
  protected isLeft(): boolean {
    return true;
  }

  protected override begin(job: LiveJob, kindState: KindState): void {
    unlink(job);
    super.begin(job, kindState);
    this.#adoption.ringBy(this.parts.clock.now() + adoptMs);
  }

  protected ended(job: LiveJob, kindState: KindState, outcome: Outcome): void {
    const journaled = outcome.how === 'done' && this.#note(kindState, job.row, outcome.result);
    const end = { kindState, outcome, journaled, followed: false };
    this.end(job, end);
    const next = job.behind;
    // Others may have waited longer for the only slot there is: the table knows whose turn it is.
    const isWanted = kindState.due && kindState.free <= 1;
    if (journaled && next?.state === 'blocked' && !isWanted && this.takes(kindState)) {
      end.followed = true;
      this.begin(next, kindState);
    } else {
      // Those behind it have to wait as long as it takes; the table knows them. One that is settling sees for itself.
      if (next?.state === 'blocked') this.forget(next);
      if (next?.state !== 'settling') this.isUrgent ||= !this.#tails.isLast(job);
    }
    if (!journaled) return;
    this.tell([end], nobody);
    this.isUrgent ||= this.live.ended >= mostGathered;
    // What is journaled waits for others.
    if (!this.isUrgent && !this.isStopping) this.#gathering.ringBy(this.parts.clock.now() + gatherMs);
  }

  /** Leaves a job to the table, with those that are blocked by it. */
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

  protected override async writeBesides(transaction: Kysely<any>): Promise<void> {
    if (!this.#isAdopting) return;
    const running = [...this.live.running].map(({ id }) => id);
    if (running.length > 0) await adopt(transaction, running, this.owner, this.parts.clock.now());
  }

  protected override turnStored(): void {
    this.#isAdopting = false;
    // Ends that came meanwhile are noted there, and only there.
    const isNeeded = [...this.live.over].some(({ end }) => end?.journaled === true);
    if (!isNeeded) this.#journal.clear(this.#replay.size > 0);
  }

  /** Its commit is on the disk, or was given up. */
  #settled(job: LiveJob, held: boolean, isStored: boolean): void {
    const { row } = job;
    const kindState = this.kinds.get(row.kind);
    const now = this.parts.clock.now();
    const before = job.before;
    job.settled = undefined;
    if (isStored && kindState !== undefined && this.takes(kindState) && row.run_at <= now) {
      const isBlocked = before?.state === 'running' || before?.state === 'blocked';
      if (isBlocked && this.live.size < mostBlocked) return this.live.move(job, 'blocked');
      const isFirst = !held || (before?.state === 'ended' && before.end?.journaled === true);
      const { due, claiming, free } = kindState;
      if (isFirst && !due && !claiming && free > 0 && !this.live.runsBeside(row)) {
        if (before?.end !== undefined) before.end.followed = true;
        return this.begin(job, kindState);
      }
    }
    this.forget(job);
    if (!held && kindState !== undefined) this.expect(kindState, row.run_at);
    // Whoever comes next is up to the table then.
    this.isUrgent ||= before?.state === 'ended';
  }

  /** Takes up what the process before had done and not marked. What `result` no longer reads is done once more. */
  #takeReplay(kindState: KindState): void {
    const { kind, handling } = kindState;
    const left = this.#replay.get(kind.name) ?? [];
    this.#replay.delete(kind.name);
    for (const { row, result } of left) {
      const read = (handling.result && parse(handling.result, result)) ?? { success: true, data: result };
      if (read.success) {
        const outcome = { row, how: 'done', result: read.data } as const;
        this.end(this.live.of(row), { kindState, outcome, journaled: true });
        this.isUrgent = true;
      } else {
        this.parts.log.warn('what a job left cannot be read, it is done again', { kind: kind.name, id: row.id });
      }
    }
  }

  /** Journals what `record` needs of a result; where that is not said, the result has to go with the mark. */
  #note({ handling }: KindState, row: JobRow, result: unknown): boolean {
    if (handling.record !== undefined && handling.result === undefined) return false;
    const kept = handling.result && parse(handling.result, result);
    return kept?.success !== false && this.#journal.add(row, kept?.data);
  }

  #hurry(isUrgent: boolean): void {
    this.isUrgent ||= isUrgent;
    this.turns.schedule();
  }
}
