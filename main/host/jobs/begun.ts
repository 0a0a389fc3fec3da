import type { Clock, Random } from '../../../services/contracts/service.ts';
import { runAttempt, type RunningAttempt } from './attempt.ts';
import { Line } from './line.ts';
import type { Ended } from './results.ts';
import type { InsertedJob, JobRow } from './table.ts';
import { judge, type Verdict } from './verdict.ts';
import type { Working } from './working.ts';

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
export class Begun {
  readonly kinds = new Map<string, Working>();
  readonly running = new Map<number, Running>();
  /** Nothing begins any more. */
  stopping = false;
  /** A job may be held back in the table that nobody here is going to begin. */
  stranded = false;
  /** Something that was begun without a claim has been at it for a while, and the table should show it. */
  adopting = false;
  #ended: Ended[] = [];
  readonly #line = new Line();
  /** Jobs whose rows a power cut could still take back: they do not run before. */
  readonly #unsettled = new Map<number, Promise<boolean>>();
  #adoption: Disposable | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #schedule: () => void;

  /** `schedule` is called when there is something for the table. */
  constructor(clock: Clock, random: Random, schedule: () => void) {
    this.#clock = clock;
    this.#random = random;
    this.#schedule = schedule;
  }

  /** Attempts whose ends are to be stored. */
  get ended(): readonly Ended[] {
    return this.#ended;
  }

  takeEnded(): readonly Ended[] {
    return this.#ended.splice(0);
  }

  /** They could not be stored, or perhaps not. */
  putBack(ended: readonly Ended[]): void {
    this.#ended = [...ended, ...this.#ended];
  }

  /** Begins a job. `claimed`: the table shows it as running, by this worker. */
  begin(working: Working, row: JobRow, claimed: boolean): void {
    // Still at it, or about to mark it: begun without a claim, or a crash of the database took the claim back.
    if (this.running.has(row.id)) return claimed ? this.claimedNow(row.id) : undefined;
    if (this.#isEnded(row.id)) return;
    if (claimed) this.#unpark(working, row.id);
    if (this.stopping || this.kinds.get(row.kind) !== working) {
      this.stranded ||= !claimed;
      return claimed ? this.#end(working, { row, how: 'returned' }) : undefined;
    }
    working.free -= 1;
    const attempt = runAttempt(working.kind, row, working.handler, this.#clock, this.#unsettled.get(row.id));
    const settled = attempt.ended.then((ending) => {
      this.running.delete(row.id);
      working.free += 1;
      this.#end(working, judge(working.kind, row, ending, this.#clock.now(), this.#random));
      const parked = working.parked.shift();
      if (parked !== undefined) this.begin(working, parked, false);
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
  beginNext({ id }: JobRow): void {
    const row = this.#line.take(id);
    if (row === undefined) return;
    const working = this.kinds.get(row.kind);
    if (working === undefined) this.stranded = true;
    else if (working.free > 0) this.begin(working, row, false);
    else working.parked.push(row);
  }

  /** Notes jobs that were enqueued here; they begin without a claim once `settling` resolves, where that is given. */
  expect(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void {
    const before = this.#line.follow(kind, jobs);
    if (settling === undefined) return;
    for (const { id } of jobs) this.#unsettled.set(id, settling);
    void settling.then((stored) => {
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
  isBehind(row: JobRow, verdicts: readonly Verdict[]): boolean {
    if (row.order_key === null || this.running.has(row.id)) return false;
    const isSame = (other: JobRow): boolean =>
      other.id !== row.id && other.kind === row.kind && other.order_key === row.order_key;
    return (
      [...this.running.values()].some((one) => isSame(one.row)) ||
      (this.kinds.get(row.kind)?.parked.some(isSame) ?? false) ||
      verdicts.some((verdict) => this.#line.hasNext(verdict.row.id) && isSame(verdict.row))
    );
  }

  /** Forgets a job that is about to be dropped; false when it has begun. */
  drop(id: number): boolean {
    if (this.running.has(id) || this.#isEnded(id)) return false;
    this.#line.forget(id);
    for (const working of this.kinds.values()) this.#unpark(working, id);
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
    const working = this.kinds.get(row.kind);
    if (working === undefined || this.stopping || row.run_at > this.#clock.now()) return;
    if (this.running.has(row.id) || this.#isEnded(row.id)) return;
    // The claims find what is not begun here, and the end of the one before it what is not put behind that.
    if (held) {
      if (stored && before !== undefined && this.#isActive(before, working)) this.#line.add(before, row);
    } else if (stored && !working.due && working.free > 0) this.begin(working, row, false);
    else working.due = true;
  }

  /** Keeps how an attempt ended for the next turn. */
  #end(working: Working, verdict: Verdict): void {
    this.#ended.push({ working, verdict });
    const { how, row } = verdict;
    // Those behind it have to wait as long as it takes; the table knows them.
    if (how !== 'done') this.#line.forgetBehind(row.id);
    const heir = this.kinds.get(row.kind);
    if (heir !== undefined && (how === 'returned' || how === 'lost')) heir.due = true;
  }

  #isEnded(id: number): boolean {
    return this.#ended.some(({ verdict }) => verdict.row.id === id);
  }

  /** Its end is still to be stored, as a success, as far as is known. */
  #isActive(id: number, { parked }: Working): boolean {
    return (
      this.running.has(id) ||
      this.#line.holds(id) ||
      parked.some((row) => row.id === id) ||
      this.#ended.some(({ verdict: { how, row } }) => row.id === id && how === 'done')
    );
  }

  #unpark({ parked }: Working, id: number): void {
    const at = parked.findIndex((row) => row.id === id);
    if (at >= 0) parked.splice(at, 1);
  }
}
