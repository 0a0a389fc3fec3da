import type { Clock, Counter, Log, Random } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { createAlarm } from './alarm.ts';
import { runAttempt, type RunningAttempt } from './attempt.ts';
import { leaseOwner } from './owner.ts';
import { claimJobs, nextRunAt, type JobRow } from './table.ts';
import { leaseMs, openUpkeep } from './upkeep.ts';
import { judge, writeVerdicts, type Verdict } from './verdict.ts';
import { drained, expectJobs, makeDue, startWorking, type Working } from './working.ts';

/** After the database refused: it is full, busy or away. */
const pauseMs = 1_000;
/** When the host stops, handlers have this long to heed the abort. */
const graceMs = 4_000;

interface Ended {
  readonly working: Working;
  readonly verdict: Verdict;
}

export interface Worker extends AsyncDisposable {
  handle(given: Pick<Working, 'kind' | 'handler' | 'onDead'>): Disposable;
  /** Says that jobs were enqueued here, perhaps in a transaction that is still open, and for when. */
  expect(kind: string, ids: readonly number[], runAts: readonly number[]): void;
  /** Says that a job of this kind may be due. */
  wake(kind: string): void;
}

/**
 * Claims due jobs, runs their handlers and writes how they ended. The table is touched in turns: one transaction writes
 * what ended since the last turn and claims for the slots that are free, so that a busy worker pays one fsync for many
 * jobs. A turn follows a wake, the end of an attempt, the time of the next job or the poll; an idle worker does nothing.
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
  const { database, clock, random, log, finished } = options;
  const owner = leaseOwner(random.text(8));
  const kinds = new Map<string, Working>();
  const running = new Map<number, { readonly attempt: RunningAttempt; readonly settled: Promise<void> }>();
  let ended: Ended[] = [];
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
      const { dead, claims, next } = await database.commit(async (transaction) => {
        const dead = await writeVerdicts(
          transaction,
          settled.map(({ verdict }) => verdict),
          owner,
          now,
        );
        const claims: { one: Working; rows: readonly JobRow[]; all: boolean }[] = [];
        for (const { one, limit } of asks) {
          const lease = { owner, leaseUntil: now + leaseMs, skipLocked: database.dialect === 'postgres' };
          const rows = await claimJobs(transaction, { kind: one.kind.name, limit, now, ...lease });
          claims.push({ one, rows, all: rows.length < limit });
        }
        const unsure = claims.filter(({ one, all }) => all && one.askNext).map(({ one }) => one.kind.name);
        return { dead, claims, next: await nextRunAt(transaction, unsure) };
      });
      for (const { one, rows, all } of claims) {
        for (const row of rows) one.expected.delete(row.id);
        if (all) drained(one, next.get(one.kind.name), now);
        else one.due = true;
        for (const row of rows) begin(one, row);
      }
      for (const one of settled) report(one, dead);
    } catch (error) {
      ended = [...settled, ...ended];
      for (const { one } of asks) one.due = true;
      throw error;
    }
  };

  const begin = (working: Working, row: JobRow): void => {
    if (stopping || kinds.get(row.kind) !== working) {
      ended.push({ working, verdict: { row, how: 'returned' } });
      return;
    }
    working.free -= 1;
    const attempt = runAttempt(working.kind, row, working.handler, clock);
    const settled = attempt.ended.then((ending) => {
      running.delete(row.id);
      working.free += 1;
      ended.push({ working, verdict: judge(working.kind, row, ending, clock.now(), random) });
      schedule();
    });
    running.set(row.id, { attempt, settled });
  };

  /** Tells of an ending once it is stored. */
  const report = ({ working, verdict }: Ended, dead: ReadonlySet<number>): void => {
    const { row, how } = verdict;
    if (how === 'returned' || how === 'lost' || (how === 'dead' && !dead.has(row.id))) return;
    const told = { kind: row.kind, id: row.id, attempt: row.attempts };
    if (how === 'retried') {
      working.nextAt = Math.min(working.nextAt, verdict.runAt);
      log.info('a job failed and is tried again', { ...told, runAt: verdict.runAt, error: verdict.error });
    }
    if (how === 'dead') {
      log.warn('a job failed for good', { ...told, error: verdict.error });
      if (verdict.attempt !== undefined) void callOnDead(working, verdict.attempt, verdict.reason);
    }
    // The one behind it may go now.
    if (row.order_key !== null) working.due = true;
    finished.inc({ kind: row.kind, outcome: how });
  };

  const callOnDead = async (
    { kind, onDead }: Working,
    attempt: Parameters<NonNullable<Working['onDead']>>[0],
    reason: string,
  ): Promise<void> => {
    try {
      await onDead?.(attempt, reason);
    } catch (error) {
      log.error('what follows a dead letter failed', { kind: kind.name, id: attempt.id, error });
    }
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
      const dead = await database.commit((transaction) => writeVerdicts(transaction, verdicts, owner, clock.now()));
      for (const one of settled) report(one, dead);
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
      for (const outcome of ['done', 'retried', 'dead']) finished.inc({ kind: name, outcome }, 0);
      schedule();
      return {
        [Symbol.dispose]() {
          if (kinds.get(name) === working) kinds.delete(name);
        },
      };
    },
    expect(kind, ids, runAts) {
      const working = kinds.get(kind);
      if (working === undefined || ids.length === 0) return;
      expectJobs(working, database.dialect === 'postgres' ? ids : [], runAts, clock.now());
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
