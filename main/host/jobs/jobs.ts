import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { JobKind, JobOptions, Jobs } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock, Log, Metrics, Random } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import { CompletionJournal } from './completion-journal.ts';
import * as listing from './listing.ts';
import { findByKey, insertJobs, letNextGo } from './table.ts';
import { openWorker } from './worker.ts';

export { jobsMigrations } from './migrations.ts';

const keepDoneMs = 7 * 24 * 3_600_000;
const purgeEveryMs = 3_600_000;
const firstPurgeMs = 60_000;
const purgeBatch = 500;
/** SQLite binds 32,766 values in a statement; a job has up to nine. */
const insertBatch = 1_000;
const defaultListLimit = 100;

/**
 * Opens a service's durable outbox on its own database, whose `jobsMigrations` have run. Jobs that a crashed process
 * left behind are due again at once. The disposal aborts what runs, waits for it at most 4 s and gives it back.
 *
 * `metrics` are the service's own: `jobs_waiting`, `jobs_dead`, `jobs_finished_total{kind, outcome}` with the outcomes
 * `done`, `retried` and `dead`.
 */
export async function openJobs(options: {
  /** The service's id, for the log. */
  readonly service: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}): Promise<Jobs & AsyncDisposable> {
  const { service, database, clock, random, log, metrics } = options;
  const finished = metrics.counter({
    name: 'jobs_finished_total',
    help: 'Attempts at jobs that ended, by kind and outcome.',
    labels: ['kind', 'outcome'],
  });
  await using opening = new AsyncDisposableStack();
  const { folder } = database;
  const endedLog = folder === undefined ? undefined : opening.use(new CompletionJournal(folder, log));
  const worker = opening.use(await openWorker({ database, clock, random, log, finished, endedLog }));
  const count = async (state: Parameters<Jobs['count']>[0]): Promise<number> => {
    await worker.upToDate();
    return listing.countJobs(database.kysely, state);
  };
  metrics.gauge({
    name: 'jobs_waiting',
    help: 'Jobs that wait for their next attempt.',
    collect: () => count('waiting'),
  });
  metrics.gauge({
    name: 'jobs_dead',
    help: 'Dead letters, kept until retried or dropped.',
    collect: () => count('dead'),
  });

  const insert = async <T>(
    transaction: Kysely<any>,
    kind: JobKind<T>,
    jobs: readonly ({ readonly payload: T } & JobOptions)[],
  ): Promise<number | undefined> => {
    const now = clock.now();
    const rows = jobs.map(({ payload, key, orderKey, runAt }) => ({
      kind: kind.name,
      key,
      orderKey,
      payload: writePayload(kind, payload),
      createdAt: now,
      runAt: runAt ?? now,
    }));
    const inserted = await insertJobs(transaction, rows);
    worker.expect(kind.name, inserted, database.settling(transaction));
    return inserted[0]?.id;
  };

  const purge = async (): Promise<void> => {
    try {
      const before = clock.now() - keepDoneMs;
      const batch = (): Promise<number> =>
        database.note((transaction) => listing.purgeDone(transaction, before, purgeBatch));
      while ((await batch()) === purgeBatch);
    } catch (error) {
      log.warn('old jobs could not be removed', { service, error });
    }
  };
  opening.use(clock.after(firstPurgeMs, () => void purge()));
  opening.use(clock.every(purgeEveryMs, () => void purge()));
  const open = opening.move();

  return {
    async enqueue(transaction, kind, payload, jobOptions = {}) {
      const id = await insert(transaction, kind, [{ payload, ...jobOptions }]);
      const known = id ?? (await findByKey(transaction, kind.name, jobOptions.key ?? ''));
      if (known === undefined) throw new Error(`the job of kind ${kind.name} was not stored`);
      return String(known);
    },
    async enqueueAll(transaction, kind, jobs) {
      for (let start = 0; start < jobs.length; start += insertBatch) {
        await insert(transaction, kind, jobs.slice(start, start + insertBatch));
      }
    },
    handle: (kind, handler, handling = {}) => worker.handle({ kind, handler, handling }),
    upToDate: () => worker.upToDate(),
    async list(filter = {}) {
      await worker.upToDate();
      const rows = await listing.listJobs(database.kysely, { ...filter, limit: filter.limit ?? defaultListLimit });
      return rows.map((row) => ({
        id: String(row.id),
        kind: row.kind,
        key: row.job_key,
        state: row.state,
        attempts: row.attempts,
        createdAt: row.created_at,
        runAt: row.run_at,
        lastError: row.last_error,
      }));
    },
    count,
    async retry(id) {
      const number = readId(id);
      if (number === undefined) return false;
      await worker.upToDate();
      const made = await database.commit((transaction) => listing.makeDue(transaction, number, clock.now()));
      if (made !== undefined) worker.wake(made.kind);
      return made !== undefined;
    },
    async hasten(kind, orderKey) {
      await worker.upToDate();
      const ask = { kind: kind.name, orderKey, now: clock.now() };
      // What a power cut takes back is tried in its own time.
      const made = await database.note((transaction) => listing.hasten(transaction, ask));
      if (made) worker.wake(kind.name);
      return made;
    },
    async drop(id) {
      const number = readId(id);
      if (number === undefined) return false;
      await worker.upToDate();
      const dropped = await database.commit(async (transaction) => {
        // Before the disk has it: what is forgotten here is found in the table.
        const job = worker.drop(number) ? await listing.deleteJob(transaction, number) : undefined;
        if (job?.order_key) await letNextGo(transaction, job.kind, [job.order_key]);
        return job;
      });
      if (dropped === undefined) return false;
      worker.wake(dropped.kind);
      return true;
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/**
 * What is stored is the payload as given, checked: the schema reads it once more when the job runs, and what a schema
 * makes of it need not pass the same schema again.
 */
function writePayload<T>(kind: JobKind<T>, payload: T): string {
  const checked = z.safeParse(kind.schema, payload);
  if (!checked.success) {
    const detail = `The payload of a ${kind.name} job does not have the form its schema asks for.`;
    throw new Problem('jobs.invalid_payload', 500, detail, { cause: checked.error, retryable: false });
  }
  return JSON.stringify(payload);
}

function readId(id: string): number | undefined {
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
