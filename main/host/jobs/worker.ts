import type { Kysely } from 'kysely';
import type { Clock, Counter, Log, Random } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { createAlarm } from './alarm.ts';
import { runAttempt, type RunningAttempt } from './attempt.ts';
import { Line } from './line.ts';
import { leaseOwner } from './owner.ts';
import { createReport } from './report.ts';
import { tellResults, type Ended } from './results.ts';
import { Slots } from './slots.ts';
import type { InsertedJob, JobRow } from './table.ts';
import { takeTurn } from './turn.ts';
import { openUpkeep } from './upkeep.ts';
import { judge, type Verdict } from './verdict.ts';
import { drained, expectJobs, makeDue, startWorking, type Working } from './working.ts';

/** After the database refused: it is full, busy or away. */
const pauseMs = 1_000;
/** When the host stops, handlers have this long to heed the abort. */
const graceMs = 4_000;
/** What was begun without a claim is shown as running after this time. */
const adoptMs = 250;

export interface Worker extends AsyncDisposable {
  handle(given: Pick<Working, 'kind' | 'handler' | 'handling'>): Disposable;
  /** Says that jobs were enqueued here, perhaps in a transaction that is still open; they run once it is settled. */
  expect(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void;
  /** Says that a job of this kind may be due. */
  wake(kind: string): void;
  /** Forgets a job that is about to be dropped; false when it has begun. */
  drop(id: number): boolean;
}

interface Running {
  readonly row: JobRow;
  readonly attempt: RunningAttempt;
  readonly settled: Promise<void>;
  /** The table shows it as running. */
  claimed: boolean;
}

/**
 * Claims due jobs, runs their handlers and writes how they ended. The table is touched in turns: one transaction writes
 * what ended since the last turn and claims for the slots that are free, so that a busy worker pays one commit for many
 * jobs, and a chain of one order key one for each. A turn follows a wake, the end of an attempt, the time of the next job or the poll; an idle worker does nothing.
 *
 * What was enqueued in a transaction whose end is told (`Database.settling`) begins without a claim, unless others of its
 * kind wait for a slot: this worker has the table to itself there. In an order key the next one begins once the end of
 * the one before it is stored. After a crash such a row waits, as if it had not begun.
 *
 * Wakes come before the commit they tell of. On SQLite that loses none: there is one connection, so the turn's
 * transaction begins after the other has ended. For PostgreSQL see `working.ts`.
 */
export async function openWorker(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Labels: kind, outcome. */
  readonly finished: Counter;
}): Promise<Worker> {
  const { database, clock, random, log } = options;
  const report = createReport(log, options.finished);
  const owner = leaseOwner(random.text(8));
  const kinds = new Map<string, Working>();
  const running = new Map<number, Running>();
  const line = new Line();
  /** Jobs whose rows a power cut could still take back: they do not run before. */
  const unsettled = new Map<number, Promise<boolean>>();
  let ended: Ended[] = [];
  /** The last turn seemed to fail, and may be stored all the same. */
  let doubtful = false;
  /** A job may be held back in the table that nobody here is going to begin. */
  let stranded = false;
  let adopting = false;
  let adoption: Disposable | undefined;
  let stopping = false;
  let scheduled = false;
  let turning: Promise<void> | undefined;
  let pause: Disposable | undefined;

  const hasWork = (): boolean =>
    ended.length > 0 || adopting || [...kinds.values()].some((one) => one.due && one.free > 0);

  const schedule = (): void => {
    if (scheduled || turning !== undefined || pause !== undefined || stopping) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (stopping || pause !== undefined) return;
      turning = turns().finally(() => {
        turning = undefined;
        setAlarm();
        // Something may have come between the last look and this line.
        if (hasWork()) schedule();
      });
    });
  };

  const turns = async (): Promise<void> => {
    while (!stopping && hasWork()) {
      try {
        await turn();
      } catch (error) {
        log.warn('the database refuses, jobs wait', { error });
        pause = clock.after(pauseMs, () => {
          pause = undefined;
          schedule();
        });
        return;
      }
    }
  };

  const turn = async (): Promise<void> => {
    const settled = ended.splice(0);
    const verdicts = settled.map(({ verdict }) => verdict);
    const asks = new Set([...kinds.values()].filter((one) => one.due && one.free > 0));
    for (const one of asks) one.due = false;
    const wanted = {
      ...{ owner, ended: settled, asks, stranded },
      late: adopting ? [...running].flatMap(([id, { claimed }]) => (claimed ? [] : [id])) : [],
      known: doubtful
        ? () => [...running.keys(), ...[...settled, ...ended].map(({ verdict }) => verdict.row.id)]
        : undefined,
      hasHeir: (id: number) => line.hasNext(id),
      isBehind: (row: JobRow) => isBehind(row, verdicts),
    };
    stranded = false;
    adopting = false;
    using slots = new Slots();
    try {
      const { dead, claims, next, now } = await store(verdicts, async (transaction) => {
        // Not before: what was enqueued while this stood in line, behind what ended here, is due as well.
        const now = clock.now();
        return { ...(await takeTurn(transaction, database.dialect, kinds, wanted, { slots, now })), now };
      });
      slots.giveBack();
      doubtful = false;
      for (const id of wanted.late) claimedNow(id);
      for (const { working, rows, all } of claims) {
        for (const row of rows) working.expected.delete(row.id);
        if (all) drained(working, next.get(working.kind.name), now);
        else working.due = true;
        for (const row of rows) begin(working, row, true);
      }
      // After those, whose slots were free when they were claimed.
      for (const { row } of verdicts) beginNext(row);
      for (const { working, verdict } of settled) report(working, verdict, dead);
      tellResults(settled, log);
    } catch (error) {
      ended = [...settled, ...ended];
      for (const one of asks) one.due = true;
      adopting = wanted.late.length > 0;
      stranded ||= wanted.stranded;
      doubtful = true;
      throw error;
    }
  };

  /**
   * A power cut may take back claims and marks; that repeats work, whose effects have keys. What follows a dead letter
   * happens once, hence only when the disk has it.
   */
  const store = <T>(verdicts: readonly Verdict[], work: (transaction: Kysely<any>) => Promise<T>): Promise<T> =>
    verdicts.some(({ how }) => how === 'dead') ? database.commit(work) : database.mark(work);

  /** Keeps how an attempt ended for the next turn. */
  const end = (working: Working, verdict: Verdict): void => {
    ended.push({ working, verdict });
    const { how, row } = verdict;
    // Those behind it have to wait as long as it takes; the table knows them.
    if (how !== 'done') line.forgetBehind(row.id);
    const heir = kinds.get(row.kind);
    if (heir !== undefined && (how === 'returned' || how === 'lost')) heir.due = true;
  };

  const holdUntil = (
    jobs: readonly InsertedJob[],
    before: ReadonlyMap<number, number>,
    settling: Promise<boolean>,
  ): void => {
    for (const { id } of jobs) unsettled.set(id, settling);
    void settling.then((stored) => {
      // After a transaction that was given up another row may have got the id.
      for (const { id } of jobs) if (unsettled.get(id) === settling) unsettled.delete(id);
      for (const { row, held } of jobs) if (row !== undefined) beginEarly(row, held !== 0, before.get(row.id), stored);
      schedule();
    });
  };

  /** True while another job of the order key runs, or is the next to begin. */
  const isBehind = (row: JobRow, verdicts: readonly Verdict[]): boolean => {
    if (row.order_key === null || running.has(row.id)) return false;
    const isSame = (other: JobRow): boolean =>
      other.id !== row.id && other.kind === row.kind && other.order_key === row.order_key;
    return (
      [...running.values()].some((one) => isSame(one.row)) ||
      (kinds.get(row.kind)?.parked.some(isSame) ?? false) ||
      verdicts.some((verdict) => line.hasNext(verdict.row.id) && isSame(verdict.row))
    );
  };

  const isEnded = (id: number): boolean => ended.some(({ verdict }) => verdict.row.id === id);

  /** Its end is still to be stored, as a success, as far as is known. */
  const isActive = (id: number, { parked }: Working): boolean =>
    running.has(id) ||
    line.holds(id) ||
    parked.some((row) => row.id === id) ||
    ended.some(({ verdict: { how, row } }) => row.id === id && how === 'done');

  /** Begins a job that was enqueued here, or puts it behind the one it waits for. */
  const beginEarly = (row: JobRow, held: boolean, before: number | undefined, stored: boolean): void => {
    const working = kinds.get(row.kind);
    if (working === undefined || stopping || row.run_at > clock.now() || running.has(row.id) || isEnded(row.id)) return;
    // The claims find what is not begun here, and the end of the one before it what is not put behind that.
    if (held) {
      if (stored && before !== undefined && isActive(before, working)) line.add(before, row);
    } else if (stored && !working.due && working.free > 0) begin(working, row, false);
    else working.due = true;
  };

  /** After the end of one was stored. */
  const beginNext = ({ id }: JobRow): void => {
    const row = line.take(id);
    if (row === undefined) return;
    const working = kinds.get(row.kind);
    if (working === undefined) stranded = true;
    else if (working.free > 0) begin(working, row, false);
    else working.parked.push(row);
  };

  const unpark = ({ parked }: Working, id: number): void => {
    const at = parked.findIndex((row) => row.id === id);
    if (at >= 0) parked.splice(at, 1);
  };

  const claimedNow = (id: number): void => {
    const known = running.get(id);
    if (known !== undefined) known.claimed = true;
  };

  const begin = (working: Working, row: JobRow, claimed: boolean): void => {
    // Still at it, or about to mark it: begun without a claim, or a crash of the database took the claim back.
    if (running.has(row.id)) return claimed ? claimedNow(row.id) : undefined;
    if (isEnded(row.id)) return;
    if (claimed) unpark(working, row.id);
    if (stopping || kinds.get(row.kind) !== working) {
      stranded ||= !claimed;
      return claimed ? end(working, { row, how: 'returned' }) : undefined;
    }
    working.free -= 1;
    const attempt = runAttempt(working.kind, row, working.handler, clock, unsettled.get(row.id));
    const settled = attempt.ended.then((ending) => {
      running.delete(row.id);
      working.free += 1;
      end(working, judge(working.kind, row, ending, clock.now(), random));
      const parked = working.parked.shift();
      if (parked !== undefined) begin(working, parked, false);
      schedule();
    });
    running.set(row.id, { row, attempt, settled, claimed });
    if (claimed) return;
    adoption ??= clock.after(adoptMs, () => {
      adoption = undefined;
      adopting = [...running.values()].some((one) => !one.claimed);
      schedule();
    });
  };

  const alarm = createAlarm(clock, () => {
    setAlarm();
    schedule();
  });
  /** Makes due what has fallen due, and sets the alarm for what comes next. */
  const setAlarm = (): void => {
    for (const one of kinds.values()) if (one.nextAt <= clock.now()) makeDue(one);
    if (!stopping) alarm.set(Math.min(...[...kinds.values()].map((one) => one.nextAt)));
  };

  const upkeep = await openUpkeep({
    database,
    clock,
    log,
    owner,
    running: () => [...running].flatMap(([id, { claimed }]) => (claimed ? [id] : [])),
    lost: (id) => running.get(id)?.attempt.interrupt('lost'),
    wake: () => {
      for (const one of kinds.values()) makeDue(one);
      schedule();
    },
  });

  const stop = async (): Promise<void> => {
    stopping = true;
    upkeep[Symbol.dispose]();
    alarm[Symbol.dispose]();
    adoption?.[Symbol.dispose]();
    pause?.[Symbol.dispose]();
    await turning;
    const left = [...running.values()];
    for (const { attempt } of left) attempt.interrupt('returned');
    using _grace = clock.after(graceMs, () => left.forEach(({ attempt }) => attempt.abandon()));
    await Promise.all(left.map(({ settled }) => settled));
    const settled = ended.splice(0);
    if (settled.length === 0) return;
    const last = { owner, ended: settled, asks: undefined, late: [], stranded: false, known: undefined };
    const nothing = { hasHeir: () => false, isBehind: () => false };
    try {
      const { dead } = await store(
        settled.map(({ verdict }) => verdict),
        (transaction) =>
          takeTurn(...([transaction, database.dialect, kinds, { ...last, ...nothing }] as const), {
            slots: new Slots(),
            now: clock.now(),
          }),
      );
      for (const { working, verdict } of settled) report(working, verdict, dead);
      tellResults(settled, log);
    } catch (error) {
      // They are taken up again at the next start, as after a crash.
      log.warn('jobs could not be given back', { jobs: settled.length, error });
    }
  };

  let stopped: Promise<void> | undefined;
  return {
    handle(given) {
      const name = given.kind.name;
      if (kinds.has(name)) throw new Error(`jobs of kind ${name} have a handler already`);
      const working = startWorking(given);
      kinds.set(name, working);
      stranded = true;
      for (const outcome of ['done', 'retried', 'dead']) options.finished.inc({ kind: name, outcome }, 0);
      schedule();
      return {
        [Symbol.dispose]() {
          if (kinds.get(name) === working) kinds.delete(name);
        },
      };
    },
    expect(kind, jobs, settling) {
      const before = line.follow(kind, jobs);
      if (settling !== undefined) holdUntil(jobs, before, settling);
      const working = kinds.get(kind);
      const now = clock.now();
      // What is held comes with the end of the one before it, unless it is to wait even longer.
      const awaited = jobs.filter(
        ({ held, run_at, row }) => run_at > now || (held === 0 && (settling === undefined || row === undefined)),
      );
      if (working === undefined || awaited.length === 0) return;
      expectJobs(working, awaited, database.dialect === 'postgres', now);
      setAlarm();
      schedule();
    },
    wake(kind) {
      const working = kinds.get(kind);
      if (working === undefined) return;
      makeDue(working);
      schedule();
    },
    drop(id) {
      if (running.has(id) || isEnded(id)) return false;
      line.forget(id);
      for (const working of kinds.values()) unpark(working, id);
      return true;
    },
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
}
