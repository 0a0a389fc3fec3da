import type { Kysely } from 'kysely';
import type { Clock, Counter, Log, Random } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { createAlarm } from './alarm.ts';
import { runAttempt, type RunningAttempt } from './attempt.ts';
import { claimJobs } from './claim.ts';
import { giveBackUnknown } from './leases.ts';
import { leaseOwner } from './owner.ts';
import { createReport } from './report.ts';
import { recordResults, tellResults, type Ended } from './results.ts';
import { nextRunAt, type InsertedJob, type JobRow } from './table.ts';
import { leaseMs, openUpkeep } from './upkeep.ts';
import { judge, writeVerdicts, type Verdict } from './verdict.ts';
import { drained, expectJobs, makeDue, startWorking, type Working } from './working.ts';

/** After the database refused: it is full, busy or away. */
const pauseMs = 1_000;
/** When the host stops, handlers have this long to heed the abort. */
const graceMs = 4_000;

export interface Worker extends AsyncDisposable {
  handle(given: Pick<Working, 'kind' | 'handler' | 'handling'>): Disposable;
  /** Says that jobs were enqueued here, perhaps in a transaction that is still open; they run once it is settled. */
  expect(kind: string, jobs: readonly InsertedJob[], settling: Promise<void> | undefined): void;
  /** Says that a job of this kind may be due. */
  wake(kind: string): void;
}

/**
 * Claims due jobs, runs their handlers and writes how they ended. The table is touched in turns: one transaction writes
 * what ended since the last turn and claims for the slots that are free, so that a busy worker pays one commit for many
 * jobs, and a chain of one order key one for each. A turn follows a wake, the end of an attempt, the time of the next job or the poll; an idle worker does nothing.
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
  const running = new Map<number, { readonly attempt: RunningAttempt; readonly settled: Promise<void> }>();
  /** Jobs whose rows a power cut could still take back: they do not run before. */
  const unsettled = new Map<number, Promise<void>>();
  let ended: Ended[] = [];
  /** The last turn seemed to fail, and may be stored all the same. */
  let doubtful = false;
  let stopping = false;
  let scheduled = false;
  let turning: Promise<void> | undefined;
  let pause: Disposable | undefined;

  const hasWork = (): boolean => ended.length > 0 || [...kinds.values()].some((one) => one.due && one.free > 0);

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
    const asks = [...kinds.values()].filter((one) => one.due && one.free > 0).map((one) => ({ one, limit: one.free }));
    for (const { one } of asks) one.due = false;
    const now = clock.now();
    try {
      const verdicts = settled.map(({ verdict }) => verdict);
      const { dead, claims, next } = await store(verdicts, async (transaction) => {
        const known = [...running.keys(), ...[...settled, ...ended].map(({ verdict }) => verdict.row.id)];
        if (doubtful) await giveBackUnknown(transaction, owner, known);
        const dead = await writeVerdicts(transaction, verdicts, owner, now);
        await recordResults(transaction, settled);
        const claims: { one: Working; rows: readonly JobRow[]; all: boolean }[] = [];
        for (const { one, limit } of asks) {
          const ask = { kind: one.kind.name, limit, now, owner, leaseUntil: now + leaseMs };
          const rows = await claimJobs(transaction, database.dialect, ask);
          claims.push({ one, rows, all: rows.length < limit });
        }
        const unsure = claims.filter(({ one, all }) => all && one.askNext).map(({ one }) => one.kind.name);
        return { dead, claims, next: await nextRunAt(transaction, unsure) };
      });
      doubtful = false;
      for (const { one, rows, all } of claims) {
        for (const row of rows) one.expected.delete(row.id);
        if (all) drained(one, next.get(one.kind.name), now);
        else one.due = true;
        for (const row of rows) begin(one, row);
      }
      for (const { working, verdict } of settled) report(working, verdict, dead);
      tellResults(settled, log);
    } catch (error) {
      ended = [...settled, ...ended];
      for (const { one } of asks) one.due = true;
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

  /** Keeps how an attempt ended for the next turn, which may claim the one behind it as well. */
  const end = (working: Working, verdict: Verdict): void => {
    ended.push({ working, verdict });
    const { how, row } = verdict;
    const heir = kinds.get(row.kind);
    if (heir !== undefined && (how === 'returned' || how === 'lost' || row.order_key !== null)) heir.due = true;
  };

  const holdUntil = (jobs: readonly InsertedJob[], settling: Promise<void>): void => {
    for (const { id } of jobs) unsettled.set(id, settling);
    void settling.then(() => {
      // After a transaction that was given up another row may have got the id.
      for (const { id } of jobs) if (unsettled.get(id) === settling) unsettled.delete(id);
    });
  };

  const begin = (working: Working, row: JobRow): void => {
    // Still at it, or about to mark it: a crash of the database took back the claim, and this one stands for it.
    if (running.has(row.id) || ended.some(({ verdict }) => verdict.row.id === row.id)) return;
    if (stopping || kinds.get(row.kind) !== working) return end(working, { row, how: 'returned' });
    working.free -= 1;
    const attempt = runAttempt(working.kind, row, working.handler, clock, unsettled.get(row.id));
    const settled = attempt.ended.then((ending) => {
      running.delete(row.id);
      working.free += 1;
      end(working, judge(working.kind, row, ending, clock.now(), random));
      schedule();
    });
    running.set(row.id, { attempt, settled });
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
    running: () => [...running.keys()],
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
    pause?.[Symbol.dispose]();
    await turning;
    const left = [...running.values()];
    for (const { attempt } of left) attempt.interrupt('returned');
    using _grace = clock.after(graceMs, () => left.forEach(({ attempt }) => attempt.abandon()));
    await Promise.all(left.map(({ settled }) => settled));
    const settled = ended.splice(0);
    if (settled.length === 0) return;
    try {
      const verdicts = settled.map(({ verdict }) => verdict);
      const dead = await store(verdicts, async (transaction) => {
        await recordResults(transaction, settled);
        return writeVerdicts(transaction, verdicts, owner, clock.now());
      });
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
      for (const outcome of ['done', 'retried', 'dead']) options.finished.inc({ kind: name, outcome }, 0);
      schedule();
      return {
        [Symbol.dispose]() {
          if (kinds.get(name) === working) kinds.delete(name);
        },
      };
    },
    expect(kind, jobs, settling) {
      if (settling !== undefined) holdUntil(jobs, settling);
      const working = kinds.get(kind);
      const now = clock.now();
      // What is held comes with the end of the one before it, unless it is to wait even longer.
      const awaited = jobs.filter(({ held, run_at }) => held === 0 || run_at > now);
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
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
}
