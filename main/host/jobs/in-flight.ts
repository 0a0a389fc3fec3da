import { z } from 'zod';
import type { Clock, Random } from '../../../services/contracts/service.ts';
import { runAttempt, type RunningAttempt } from './attempt.ts';
import type { CompletionJournal } from './completion-journal.ts';
import { Successors } from './successors.ts';
import { isLoggable, type Ended } from './results.ts';
import type { InsertedJob, JobRow } from './table.ts';
import { decideOutcome, type Outcome } from './outcome.ts';
import type { KindState } from './kind-state.ts';

/** What was begun without a claim is shown as running after this time. */
const adoptMs = 250;

export interface Running {
  readonly row: JobRow;
  readonly attempt: RunningAttempt;
  readonly settled: Promise<void>;
  /** The table shows it as running. */
  claimed: boolean;
}

/** The jobs this process has begun, those it is about to begin, and those whose ends the table does not know yet. */
export class InFlight {
  readonly kinds = new Map<string, KindState>();
  readonly running = new Map<number, Running>();
  /** Nothing begins any more. */
  stopping = false;
  /** A job may be held back in the table that nobody here is going to begin. */
  stranded = false;
  /** Something that was begun without a claim has been at it for a while, and the table should show it. */
  adopting = false;
  /** An end waits that the table has to be told of at once. */
  urgent = false;
  readonly #ended = new Map<number, Ended>();
  readonly #line = new Successors();
  /** Jobs whose rows a power cut could still take back: they do not run before. */
  readonly #unsettled = new Map<number, Promise<boolean>>();
  /** Jobs directly behind which such a one is: it begins, or joins the line, when it is settled. */
  readonly #awaited = new Set<number>();
  #adoption: Disposable | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #schedule: () => void;
  readonly #log: CompletionJournal | undefined;
  readonly #tell: (ended: Ended) => void;

  /** `schedule` is called when there is something for the table, `tell` when an end stands in the log. */
  constructor(parts: {
    readonly clock: Clock;
    readonly random: Random;
    /** Absent where others may work with the table. */
    readonly log: CompletionJournal | undefined;
    readonly schedule: () => void;
    readonly tell: (ended: Ended) => void;
  }) {
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#log = parts.log;
    this.#schedule = parts.schedule;
    this.#tell = parts.tell;
  }

  /** Attempts whose ends are to be stored, by the ids of their jobs. */
  get ended(): ReadonlyMap<number, Ended> {
    return this.#ended;
  }

  takeEnded(): readonly Ended[] {
    const ended = [...this.#ended.values()];
    this.#ended.clear();
    this.urgent = false;
    this.#log?.turnOver();
    return ended;
  }

  /** They could not be stored, or perhaps not. */
  putBack(ended: readonly Ended[]): void {
    const later = [...this.#ended];
    this.#ended.clear();
    for (const each of ended) this.#ended.set(each.outcome.row.id, each);
    for (const [id, each] of later) this.#ended.set(id, each);
    this.urgent = true;
  }

  /** Takes up a job that the process before had done and not marked. */
  takeLeft(kindState: KindState, row: JobRow, result: unknown): void {
    this.#ended.set(row.id, { kindState, outcome: { row, how: 'done', result }, logged: true, followed: false });
    this.urgent = true;
  }

  /** Begins a job. `claimed`: the table shows it as running, by this worker. */
  begin(kindState: KindState, row: JobRow, claimed: boolean): void {
    // Still at it, or about to mark it: begun without a claim, or a crash of the database took the claim back.
    if (this.running.has(row.id)) return claimed ? this.claimedNow(row.id) : undefined;
    if (this.#isEnded(row.id)) return;
    if (claimed) this.#unpark(kindState, row.id);
    if (this.stopping || this.kinds.get(row.kind) !== kindState) {
      this.stranded ||= !claimed;
      return claimed ? this.#end(kindState, { row, how: 'returned' }) : undefined;
    }
    kindState.free -= 1;
    const attempt = runAttempt(kindState.kind, row, kindState.handler, this.#clock, this.#unsettled.get(row.id));
    const settled = attempt.ended.then((ending) => {
      this.running.delete(row.id);
      kindState.free += 1;
      const parked = kindState.parked.shift();
      if (parked !== undefined) this.begin(kindState, parked, false);
      this.#end(kindState, decideOutcome(kindState.kind, row, ending, this.#clock.now(), this.#random));
      this.#schedule();
    });
    this.running.set(row.id, { row, attempt, settled, claimed });
    if (claimed) return;
    this.#adoption ??= this.#clock.after(adoptMs, () => {
      this.#adoption = undefined;
      this.adopting = [...this.running.values()].some((one) => !one.claimed);
      this.#schedule();
    });
  }

  /** After the end of one was stored: the one behind it has its turn. */
  beginNext(ended: Ended): void {
    const row = this.#line.take(ended.outcome.row.id);
    if (row === undefined) return;
    ended.followed = true;
    this.#beginFreed(row);
  }

  #beginFreed(row: JobRow): void {
    const kindState = this.kinds.get(row.kind);
    if (kindState === undefined) this.stranded = true;
    else if (kindState.free > 0) this.begin(kindState, row, false);
    else kindState.parked.push(row);
  }

  /** Notes jobs that were enqueued here; they begin without a claim once `settling` resolves, where that is given. */
  expect(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void {
    const before = this.#line.follow(kind, jobs);
    if (settling === undefined) return;
    for (const { id } of jobs) this.#unsettled.set(id, settling);
    for (const id of before.values()) this.#awaited.add(id);
    void settling.then((stored) => {
      if (!stored) this.#line.unfollow(kind, jobs);
      for (const id of before.values()) {
        this.#awaited.delete(id);
        // Whoever comes next is up to the table then.
        this.urgent ||= !stored && this.#ended.has(id);
      }
      // After a transaction that was given up another row may have got the id.
      for (const { id } of jobs) if (this.#unsettled.get(id) === settling) this.#unsettled.delete(id);
      for (const { row, held } of jobs) {
        if (row !== undefined) this.#beginEarly(row, held !== 0, before.get(row.id), stored);
      }
      this.#schedule();
    });
  }

  claimedNow(id: number): void {
    const known = this.running.get(id);
    if (known !== undefined) known.claimed = true;
  }

  /** True where the one behind this is known, and begins once the end of this is stored. */
  hasHeir(id: number): boolean {
    return this.#line.hasNext(id);
  }

  /** True while another job of the order key runs, or is the next to begin after one of these. */
  isBehind(row: JobRow, outcomes: readonly Outcome[]): boolean {
    if (row.order_key === null || this.running.has(row.id)) return false;
    return (
      this.#runsBeside(row) ||
      (this.kinds.get(row.kind)?.parked.some((other) => isBeside(other, row)) ?? false) ||
      outcomes.some((outcome) => this.#line.hasNext(outcome.row.id) && isBeside(outcome.row, row))
    );
  }

  /** True while another job of its order key runs, such as a dead letter that is tried again. */
  #runsBeside(row: JobRow): boolean {
    for (const one of this.running.values()) if (isBeside(one.row, row)) return true;
    return false;
  }

  /** Forgets a job that is about to be dropped; false when it has begun. */
  drop(id: number): boolean {
    if (this.running.has(id) || this.#isEnded(id)) return false;
    this.#line.forget(id);
    for (const kindState of this.kinds.values()) this.#unpark(kindState, id);
    return true;
  }

  /** Begins nothing any more; returns what runs. */
  stop(): readonly Running[] {
    this.stopping = true;
    this.#adoption?.[Symbol.dispose]();
    return [...this.running.values()];
  }

  /** Begins a job that was enqueued here, or puts it behind the one it waits for. */
  #beginEarly(row: JobRow, held: boolean, before: number | undefined, stored: boolean): void {
    const kindState = this.kinds.get(row.kind);
    if (kindState === undefined || this.stopping || row.run_at > this.#clock.now()) return;
    if (this.running.has(row.id) || this.#isEnded(row.id)) return;
    // The claims find what is not begun here, and the end of the one before it what is not put behind that.
    if (held) {
      if (!stored || before === undefined) return;
      const ended = this.#ended.get(before);
      if (this.#isActive(before, kindState)) this.#line.add(before, row);
      else if (ended?.logged === true && !ended.followed && !this.#runsBeside(row)) {
        ended.followed = true;
        this.#beginFreed(row);
      }
    } else if (stored && !kindState.due && kindState.free > 0) this.begin(kindState, row, false);
    else kindState.due = true;
  }

  /** Keeps how an attempt ended for the next turn; what is logged is over but for that. */
  #end(kindState: KindState, outcome: Outcome): void {
    const { how, row } = outcome;
    const logged = how === 'done' && isLoggable(kindState) && this.#note(kindState, row, outcome.result);
    const ended = { kindState, outcome, logged, followed: false };
    this.#ended.set(row.id, ended);
    // Those behind it have to wait as long as it takes; the table knows them.
    if (how !== 'done') this.#line.forgetBehind(row.id);
    const heir = this.kinds.get(row.kind);
    if (heir !== undefined && (how === 'returned' || how === 'lost')) heir.due = true;
    if (logged) {
      this.beginNext(ended);
      this.#tell(ended);
    }
    const isKnown = row.order_key === null || ended.followed || this.#awaited.has(row.id) || this.#line.isLast(row);
    // Only the table may know who is next in its order key.
    this.urgent ||= !logged || !isKnown;
  }

  #note({ handling }: KindState, row: JobRow, result: unknown): boolean {
    if (this.#log === undefined) return false;
    const kept = handling.result && z.safeParse(handling.result, result);
    return kept?.success !== false && this.#log.add(row, kept?.data);
  }

  #isEnded(id: number): boolean {
    return this.#ended.has(id);
  }

  /** Its end is still to be stored, as a success, as far as is known. */
  #isActive(id: number, { parked }: KindState): boolean {
    const ended = this.#ended.get(id);
    return (
      this.running.has(id) ||
      this.#line.holds(id) ||
      parked.some((row) => row.id === id) ||
      (ended?.outcome.how === 'done' && !ended.logged)
    );
  }

  #unpark({ parked }: KindState, id: number): void {
    const at = parked.findIndex((row) => row.id === id);
    if (at >= 0) parked.splice(at, 1);
  }
}

/** Another one of the same order key. */
function isBeside(other: JobRow, row: JobRow): boolean {
  return other.id !== row.id && other.kind === row.kind && other.order_key === row.order_key;
}
