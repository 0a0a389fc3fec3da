import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineTopic } from './bus.ts';

/** Kind of durable job, declared once beside its handler. */
export interface JobKind<T> {
  /** `<service>.<verb>`, e.g. `notify.deliver`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
  /** Number of concurrent jobs in this process. Default 4. */
  readonly concurrency?: number;
  /** Time after which an attempt is aborted and counts as failed. Default 60,000 ms. */
  readonly timeoutMs?: number;
  /** Age at which a failing job becomes a dead letter. Default 24 h. */
  readonly maxAgeMs?: number;
  /**
   * Deletes a job's row when it is done, which frees its key: for work whose own rows record the completion. Default:
   * rows are kept for 7 days.
   */
  readonly deleteWhenDone?: boolean;
  /**
   * Delays before the 2nd, 3rd, … attempt in ms, each varied by 20 %; the last one repeats. Default 5 s, 15 s, 1 min,
   * 5 min, 15 min, 1 h.
   */
  readonly backoffMs?: readonly number[];
}

/** Defines a kind of job; the enqueuing and the processing code share the returned value. */
export function defineJob<T>(
  name: string,
  schema: z.core.$ZodType<T>,
  options: Omit<JobKind<T>, 'name' | 'schema'> = {},
): JobKind<T> {
  return { name, schema, ...options };
}

/** Options of an enqueued job. */
export interface JobOptions {
  /** Idempotency key: another job of this kind with the same key is ignored while the first one is stored. */
  readonly key?: string;
  /**
   * Jobs with the same order key run sequentially in the order of enqueueing. A failing job delays its successors
   * unless its Problem sets `stepsAside`.
   */
  readonly orderKey?: string;
  /** Earliest start, ms since the epoch. */
  readonly runAt?: number;
}

/** Attempt to process a job. */
export interface JobAttempt<T> {
  readonly id: string;
  readonly key: string | undefined;
  readonly payload: T;
  /** 1 on the first attempt. */
  readonly attempt: number;
  /** Other jobs with the same order key wait for this one; false without an order key, and after it stepped aside. */
  readonly hasSuccessors: boolean;
  /** Time of enqueueing, ms since the epoch. */
  readonly createdAt: number;
  /** Aborted on timeout and when the host stops. */
  readonly signal: AbortSignal;
}

/** State of a stored job; `dead` jobs used up their attempts. */
export const JobState = z.enum(['waiting', 'running', 'done', 'dead']);
export type JobState = z.infer<typeof JobState>;

/** Job as pages and exports show it, without the payload, which may contain a secret. */
export const JobSummary = z.object({
  id: z.string(),
  kind: z.string(),
  key: z.string().nullable(),
  state: JobState,
  attempts: z.int(),
  createdAt: z.number().describe('ms since the epoch'),
  runAt: z
    .number()
    .describe(
      'Time of the next attempt, in ms since the epoch. The job also waits for earlier jobs with the same order ' +
        'key.',
    ),
  lastError: z.string().nullable(),
});
export type JobSummary = z.infer<typeof JobSummary>;

/** Published when a waiting or dead job of a service was retried or dropped outside of the service's own routes. */
export const jobsChanged = defineTopic('jobs.changed', z.object({ service: z.string() }), { shared: true });

/** Options of the handler of a job kind. */
export interface JobHandlerOptions<T, R = void> {
  /**
   * Writes the results of handlers in the transaction that marks their jobs as done, for all jobs that ended
   * together. It uses only `transaction`, and runs again when the commit fails. Like the marks, it is not synced to
   * disk individually.
   */
  readonly record?: (transaction: Kysely<any>, results: readonly R[]) => Promise<void>;
  /**
   * Schema of the part of a result that `record` needs. With it, completions are first written to a file, as for
   * kinds without `record`, and to the table in batches a moment later ({@link Jobs.flush}); after a crash `record`
   * receives the parsed entries.
   */
  readonly result?: z.core.$ZodType<R>;
  /** Called once the completion is stored, in the file or in the table. */
  readonly onDone?: (results: readonly R[]) => void;
  /**
   * Called after a job was marked dead, because its attempts are used up or the failure was final. Normally once;
   * again in a later process, or by another host, if it threw or the process ended before it returned. Not called for
   * a payload that no longer matches its schema.
   */
  readonly onDead?: (attempt: Omit<JobAttempt<T>, 'signal'>, reason: string) => Promise<void> | void;
  /** `onDead` logs the failure itself, so the host does not. */
  readonly logsDead?: true;
}

/**
 * Durable outbox of a service: jobs are rows in its own database, so that enqueueing is part of the transaction that
 * caused the work. A handler can run more than once for a job (a crash before the mark, or a power failure within a
 * second after it), so its effect must carry a stable key. A handler fails by throwing; a Problem defines whether and
 * when to retry.
 */
export interface Jobs {
  /**
   * Adds a job in the transaction of the caller's own rows. Returns its id, or that of the existing job with the same
   * key.
   */
  enqueue<T>(transaction: Kysely<any>, kind: JobKind<T>, payload: T, options?: JobOptions): Promise<string>;
  /** Adds several jobs in one statement. */
  enqueueAll<T>(
    transaction: Kysely<any>,
    kind: JobKind<T>,
    jobs: readonly ({ readonly payload: T } & JobOptions)[],
  ): Promise<void>;
  /** Starts processing jobs of this kind; the disposal stops accepting new ones. */
  handle<T, R = void>(
    kind: JobKind<T>,
    handler: (attempt: JobAttempt<T>) => Promise<R>,
    handling?: JobHandlerOptions<T, R>,
  ): Disposable;
  /**
   * Resolves when all completions so far are in the tables, including the writes of `record`. Call it before reading
   * them.
   */
  flush(): Promise<void>;
  /** Lists jobs, newest first, 100 by default; longer lists are read outside of the event loop. */
  list(filter?: {
    readonly state?: JobState;
    readonly kind?: string;
    /** Only jobs with one of these keys. */
    readonly keys?: readonly string[];
    /** Only jobs older than the one with this id, to read the next page. */
    readonly before?: string | undefined;
    readonly limit?: number;
  }): Promise<readonly JobSummary[]>;
  /** Returns the keys of jobs, newest first, read outside of the event loop: for statistics over many jobs. */
  keys(filter: { readonly kind: string; readonly state: JobState; readonly limit: number }): Promise<readonly string[]>;
  count(state: JobState): Promise<number>;
  /** Makes a dead or waiting job due now. Returns false when it does not exist. */
  retry(id: string): Promise<boolean>;
  /**
   * Retries the first job of an order key that waits after a failure, because it may succeed now. The attempt does
   * not count, so later delays do not grow. Returns false when no such job waits.
   */
  retryNow<T>(kind: JobKind<T>, orderKey: string): Promise<boolean>;
  /** Deletes a dead or waiting job. */
  drop(id: string): Promise<boolean>;
}
