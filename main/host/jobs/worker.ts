import type { Kysely } from 'kysely';
import type { Clock, Counter, Log, Random } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { createAlarm } from './alarm.ts';
import { InFlight } from './in-flight.ts';
import type { CompletionJournal } from './completion-journal.ts';
import { Replay } from './replay.ts';
import { leaseOwner } from './owner.ts';
import { createReport } from './report.ts';
import { tellResults, type Ended } from './results.ts';
import { Slots } from './slots.ts';
import type { InsertedJob, JobRow } from './table.ts';
import { flush } from './flush.ts';
import { openUpkeep } from './upkeep.ts';
import type { Outcome } from './outcome.ts';
import { drained, expectJobs, makeDue, openKindState, type KindState } from './kind-state.ts';

/** After the database refused: it is full, busy or away. */
const pauseMs = 1_000;
/** So long ends that are in the log are gathered for the table, and so many. */
const gatherMs = 100;
const mostGathered = 128;
const nobody: ReadonlySet<number> = new Set();
/** When the host stops, handlers have this long to heed the abort. */
const graceMs = 4_000;

export interface Worker extends AsyncDisposable {
  handle(given: Pick<KindState, 'kind' | 'handler' | 'handling'>): Disposable;
  /** Says that jobs were enqueued here, perhaps in a transaction that is still open; they run once it is settled. */
  expect(kind: string, jobs: readonly InsertedJob[], settling: Promise<boolean> | undefined): void;
  /** Says that a job of this kind may be due. */
  wake(kind: string): void;
  /** Forgets a job that is about to be dropped; false when it has begun. */
  drop(id: number): boolean;
  /** Resolves when all that ended so far stands in the table, or the table refuses. */
  upToDate(): Promise<void>;
}

/**
 * Claims due jobs, runs their handlers and writes how they ended. The table is touched in turns: one transaction writes
 * what ended since the last turn and claims for the slots that are free. A turn follows a wake, the time of the next job,
 * the poll, or the end of an attempt; that may wait for others where it stands in the log (`ended-log.ts`), so that a busy worker pays one
 * transaction for many jobs. An idle worker does nothing.
 *
 * What was enqueued in a transaction whose end is told (`Database.settling`) begins without a claim, unless others of its
 * kind wait for a slot: this worker has the table to itself there. In an order key the next one begins once the end of
 * the one before it is stored. After a crash such a row waits, as if it had not begun.
 *
 * Wakes come before the commit they tell of. On SQLite that loses none: there is one connection, so the turn's
 * transaction begins after the other has ended. For PostgreSQL see `kindState.ts`.
 */
export async function openWorker(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Labels: kind, outcome. */
  readonly finished: Counter;
  /** Absent where several hosts share the table. */
  readonly endedLog: CompletionJournal | undefined;
}): Promise<Worker> {
  const { database, clock, random, log, endedLog } = options;
  const report = createReport(log, options.finished);
  const owner = leaseOwner(random.text(8));
  /** The last turn seemed to fail, and may be stored all the same. */
  let doubtful = false;
  let scheduled = false;
  let turning: Promise<void> | undefined;
  let pause: Disposable | undefined;
  /** Who waits for the table to be up to date; the next turn answers them. */
  const askers: (() => void)[] = [];
  let gathering: Disposable | undefined;
  const tell = (ended: readonly Ended[], dead: ReadonlySet<number>): void => {
    for (const { kindState, outcome } of ended) report(kindState, outcome, dead);
    tellResults(ended, log);
  };
  const begun = new InFlight({
    ...{ clock, random, log: endedLog, schedule: () => schedule() },
    tell: (ended) => tell([ended], nobody),
  });
  const { kinds, running } = begun;
  const left = await Replay.read(database.kysely, endedLog);

  const hasWork = (): boolean =>
    begun.urgent ||
    begun.ended.size >= mostGathered ||
    askers.length > 0 ||
    begun.adopting ||
    [...kinds.values()].some((one) => one.due && one.free > 0);

  const schedule = (): void => {
    if (scheduled || turning !== undefined || pause !== undefined || begun.stopping) return;
    if (!hasWork()) return gather();
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (begun.stopping || pause !== undefined) return;
      turning = turns().finally(() => {
        turning = undefined;
        setAlarm();
        // Something may have come between the last look and this line.
        schedule();
      });
    });
  };

  /** What is logged waits for others. */
  const gather = (): void => {
    if (begun.ended.size === 0) return;
    gathering ??= clock.after(gatherMs, () => {
      gathering = undefined;
      begun.urgent ||= begun.ended.size > 0;
      schedule();
    });
  };

  const turns = async (): Promise<void> => {
    while (!begun.stopping && hasWork()) {
      try {
        await turn();
      } catch (error) {
        log.warn('the database refuses, jobs wait', { error });
        for (const answer of askers.splice(0)) answer();
        pause = clock.after(pauseMs, () => {
          pause = undefined;
          schedule();
        });
        return;
      }
    }
  };

  const turn = async (): Promise<void> => {
    const settled = begun.takeEnded();
    const answered = askers.splice(0);
    const outcomes = settled.map(({ outcome }) => outcome);
    const followed = new Set(settled.flatMap((one) => (one.followed ? [one.outcome.row.id] : [])));
    const asks = new Set([...kinds.values()].filter((one) => one.due && one.free > 0));
    for (const one of asks) one.due = false;
    const wanted = {
      ...{ owner, ended: settled, asks, stranded: begun.stranded },
      late: begun.adopting ? [...running].flatMap(([id, { claimed }]) => (claimed ? [] : [id])) : [],
      known: doubtful
        ? () => [...running.keys(), ...settled.map(({ outcome }) => outcome.row.id), ...begun.ended.keys()]
        : undefined,
      hasHeir: (id: number) => followed.has(id) || begun.hasHeir(id),
      isBehind: (row: JobRow) => begun.isBehind(row, outcomes),
    };
    begun.stranded = false;
    begun.adopting = false;
    using slots = new Slots();
    try {
      const { dead, claims, next, now } = await store(outcomes, async (transaction) => {
        // Not before: what was enqueued while this stood in line, behind what ended here, is due as well.
        const now = clock.now();
        return { ...(await flush(transaction, database.dialect, kinds, wanted, { slots, now })), now };
      });
      slots.giveBack();
      doubtful = false;
      for (const id of wanted.late) begun.claimedNow(id);
      for (const { kindState, rows, all } of claims) {
        for (const row of rows) kindState.expected.delete(row.id);
        if (all) drained(kindState, next.get(kindState.kind.name), now);
        else kindState.due = true;
        for (const row of rows) begun.begin(kindState, row, true);
      }
      if (left.none) endedLog?.stored();
      // After those, whose slots were free when they were claimed.
      const unlogged = settled.filter(({ logged }) => !logged);
      for (const ended of unlogged) begun.beginNext(ended);
      tell(unlogged, dead);
    } catch (error) {
      begun.putBack(settled);
      for (const one of asks) one.due = true;
      begun.adopting = wanted.late.length > 0;
      begun.stranded ||= wanted.stranded;
      doubtful = true;
      throw error;
    } finally {
      for (const answer of answered) answer();
    }
  };

  /**
   * A power cut may take back claims and marks; that repeats work, whose effects have keys. What follows a dead letter
   * happens once, hence only when the disk has it.
   */
  const store = <T>(outcomes: readonly Outcome[], work: (transaction: Kysely<any>) => Promise<T>): Promise<T> =>
    outcomes.some(({ how }) => how === 'dead') ? database.commit(work) : database.mark(work);

  const alarm = createAlarm(clock, () => {
    setAlarm();
    schedule();
  });
  /** Makes due what has fallen due, and sets the alarm for what comes next. */
  const setAlarm = (): void => {
    for (const one of kinds.values()) if (one.nextAt <= clock.now()) makeDue(one);
    if (!begun.stopping) alarm.set(Math.min(...[...kinds.values()].map((one) => one.nextAt)));
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
    begun.stopping = true;
    gathering?.[Symbol.dispose]();
    for (const answer of askers.splice(0)) answer();
    upkeep[Symbol.dispose]();
    alarm[Symbol.dispose]();
    pause?.[Symbol.dispose]();
    await turning;
    const underWay = begun.stop();
    for (const { attempt } of underWay) attempt.interrupt('returned');
    using _grace = clock.after(graceMs, () => underWay.forEach(({ attempt }) => attempt.abandon()));
    await Promise.all(underWay.map(({ settled }) => settled));
    const settled = begun.takeEnded();
    if (settled.length === 0) return;
    const last = { owner, ended: settled, asks: undefined, late: [], stranded: false, known: undefined };
    const nothing = { hasHeir: () => false, isBehind: () => false };
    try {
      const { dead } = await store(
        settled.map(({ outcome }) => outcome),
        (transaction) =>
          flush(...([transaction, database.dialect, kinds, { ...last, ...nothing }] as const), {
            slots: new Slots(),
            now: clock.now(),
          }),
      );
      if (left.none) endedLog?.stored();
      tell(
        settled.filter(({ logged }) => !logged),
        dead,
      );
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
      const kindState = openKindState(given);
      kinds.set(name, kindState);
      begun.stranded = true;
      left.giveTo(kindState, begun, log);
      for (const outcome of ['done', 'retried', 'dead']) options.finished.inc({ kind: name, outcome }, 0);
      schedule();
      return {
        [Symbol.dispose]() {
          if (kinds.get(name) === kindState) kinds.delete(name);
        },
      };
    },
    expect(kind, jobs, settling) {
      begun.expect(kind, jobs, settling);
      const kindState = kinds.get(kind);
      const now = clock.now();
      // What is held comes with the end of the one before it, unless it is to wait even longer.
      const awaited = jobs.filter(
        ({ held, run_at, row }) => run_at > now || (held === 0 && (settling === undefined || row === undefined)),
      );
      if (kindState === undefined || awaited.length === 0) return;
      expectJobs(kindState, awaited, database.dialect === 'postgres', now);
      setAlarm();
      schedule();
    },
    wake(kind) {
      const kindState = kinds.get(kind);
      if (kindState === undefined) return;
      makeDue(kindState);
      schedule();
    },
    drop: (id) => begun.drop(id),
    upToDate() {
      if (begun.stopping || pause !== undefined) return Promise.resolve();
      if (begun.ended.size === 0 && turning === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        askers.push(resolve);
        schedule();
      });
    },
    [Symbol.asyncDispose]: () => (stopped ??= stop()),
  };
}
