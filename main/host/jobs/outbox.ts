import * as m from '#messages/host-problems';
import type { Kysely } from 'kysely';
import type {
  JobAttempt,
  JobHandlerOptions,
  JobKind,
  JobOptions,
  Jobs,
  JobSummary,
} from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { Database } from '../database/open.ts';
import * as listing from './listing.ts';
import { parse } from './parse.ts';
import { findByKey, insertJobs, releaseNext } from './table.ts';
import type { Worker } from './worker.ts';

/** SQLite binds at most 32,766 values per statement; a job has nine. */
const insertBatch = 1_000;
const defaultListLimit = 100;

/** Implements the jobs of a service. */
export class Outbox implements Jobs, AsyncDisposable {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #worker: Worker;
  /** Disposed with the outbox, the worker last. */
  readonly #parts: AsyncDisposable;

  constructor(database: Database, clock: Clock, worker: Worker, parts: AsyncDisposable) {
    this.#database = database;
    this.#clock = clock;
    this.#worker = worker;
    this.#parts = parts;
  }

  async enqueue<T>(transaction: Kysely<any>, kind: JobKind<T>, payload: T, options: JobOptions = {}): Promise<string> {
    const payloads = await this.#insert(transaction, kind, [{ payload, ...options }]);
    const id = payloads ?? (await findByKey(transaction, kind.name, options.key ?? ''));
    if (id === undefined) throw new Error(`the job of kind ${kind.name} was not stored`);
    return String(id);
  }

  async enqueueAll<T>(
    transaction: Kysely<any>,
    kind: JobKind<T>,
    jobs: readonly ({ readonly payload: T } & JobOptions)[],
  ): Promise<void> {
    for (let start = 0; start < jobs.length; start += insertBatch) {
      await this.#insert(transaction, kind, jobs.slice(start, start + insertBatch));
    }
  }

  handle<T, R>(
    kind: JobKind<T>,
    handler: (attempt: JobAttempt<T>) => Promise<R>,
    handling: JobHandlerOptions<T, R> = {},
  ): Disposable {
    return this.#worker.handle({ kind, handler, handling });
  }

  flush(): Promise<void> {
    return this.#worker.upToDate();
  }

  async list(filter: Parameters<Jobs['list']>[0] = {}): Promise<readonly JobSummary[]> {
    await this.flush();
    const { limit = defaultListLimit } = filter;
    const { kysely, reads } = this.#database;
    const rows = await listing.listJobs(limit > defaultListLimit ? reads : kysely, { ...filter, limit });
    return rows.map(({ id, job_key: key, created_at: createdAt, run_at: runAt, last_error: lastError, ...same }) => {
      return { ...same, id: String(id), key, createdAt, runAt, lastError };
    });
  }

  async keys(filter: Parameters<Jobs['keys']>[0]): Promise<readonly string[]> {
    await this.flush();
    return listing.listKeys(this.#database.reads, filter);
  }

  async count(state: Parameters<Jobs['count']>[0]): Promise<number> {
    await this.flush();
    return listing.countJobs(this.#database.kysely, state);
  }

  async retry(id: string): Promise<boolean> {
    const number = readId(id);
    if (number === undefined) return false;
    await this.flush();
    const isRetried = await this.#database.commit((transaction) =>
      listing.makeDue(transaction, number, this.#clock.now()),
    );
    if (isRetried !== undefined) this.#worker.wake(isRetried.kind);
    return isRetried !== undefined;
  }

  async retryNow<T>(kind: JobKind<T>, orderKey: string): Promise<boolean> {
    await this.flush();
    const request = { kind: kind.name, orderKey, now: this.#clock.now() };
    // After a power failure the job is retried at its regular time.
    const isRetried = await this.#database.note((transaction) => listing.makeFirstDue(transaction, request));
    if (isRetried) this.#worker.wake(kind.name);
    return isRetried;
  }

  async drop(id: string): Promise<boolean> {
    const number = readId(id);
    if (number === undefined) return false;
    await this.flush();
    const dropped = await this.#database.commit(async (transaction) => {
      // Before the commit: a job that is forgotten here is found in the table.
      const job = this.#worker.drop(number) ? await listing.deleteJob(transaction, number) : undefined;
      if (job?.order_key) await releaseNext(transaction, job.kind, [job.order_key]);
      return job;
    });
    if (dropped !== undefined) this.#worker.dropped(dropped.kind, number);
    return dropped !== undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#parts[Symbol.asyncDispose]());
  }

  /** Returns the id of the first inserted job. */
  async #insert<T>(
    transaction: Kysely<any>,
    kind: JobKind<T>,
    jobs: readonly ({ readonly payload: T } & JobOptions)[],
  ): Promise<number | undefined> {
    const now = this.#clock.now();
    const rows = jobs.map(({ payload, key, orderKey, runAt = now }) => ({
      key,
      orderKey,
      runAt,
      payload: writePayload(kind, payload),
    }));
    const inserted = await insertJobs(transaction, kind.name, rows, now);
    this.#worker.enqueued(kind.name, inserted, this.#database.settling(transaction));
    return inserted[0]?.row.id;
  }
}

/**
 * Stores the validated payload in its original form: the schema parses it again when the job runs, and its output
 * need not be valid input.
 */
function writePayload<T>(kind: JobKind<T>, payload: T): string {
  const checked = parse(kind.schema, payload);
  if (!checked.success) {
    const detail = (): string => m.jobPayloadInvalid({ name: kind.name });
    throw new Problem('jobs.invalid_payload', 500, detail, { cause: checked.error, retryable: false });
  }
  return JSON.stringify(payload);
}

function readId(id: string): number | undefined {
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}
