import type { Kysely } from 'kysely';
import { z } from 'zod';
import { defineTopic } from './bus.ts';

/** A kind of durable work, declared once beside its handler. */
export interface JobKind<T> {
  /** `<service>.<verb>`, e.g. `notify.deliver`. */
  readonly name: string;
  readonly schema: z.core.$ZodType<T>;
  /** How many run at once in this process. Default 4. */
  readonly concurrency?: number;
  /** One attempt is aborted after this time and counts as failed. Default 60,000 ms. */
  readonly timeoutMs?: number;
  /** After this age a failing job becomes a dead letter. Default 24 h. */
  readonly maxAgeMs?: number;
  /** A done job leaves no row, so its key is free again a moment later: for work whose own rows tell that it was done. Default: they stay 7 days. */
  readonly deleteWhenDone?: boolean;
  /** Waits before the 2nd, 3rd, … attempt, in ms, each varied by 20 %; the last repeats. Default 5 s, 15 s, 1 min, 5 min, 15 min, 1 h. */
  readonly backoffMs?: readonly number[];
}

export function defineJob<T>(
  name: string,
  schema: z.core.$ZodType<T>,
  options: Omit<JobKind<T>, 'name' | 'schema'> = {},
): JobKind<T> {
  return { name, schema, ...options };
}

export interface JobOptions {
  /** Idempotency: a second job of this kind with the same key is ignored as long as the first is stored (done ones: 7 days, or not at all). */
  readonly key?: string;
  /** Jobs with one order key run one after another in order of enqueueing; a failing one holds back those behind it, unless its Problem says that it steps aside. */
  readonly orderKey?: string;
  /** Not before this time, in ms since the epoch. */
  readonly runAt?: number;
}

export interface JobAttempt<T> {
  readonly id: string;
  readonly key: string | undefined;
  readonly payload: T;
  /** 1 on the first attempt. */
  readonly attempt: number;
  /** Others of its order key wait for it; false without one, and once it stepped aside. */
  readonly hasSuccessors: boolean;
  /** When the job was enqueued, in ms since the epoch. */
  readonly createdAt: number;
  /** Aborted on time-out and when the host stops. */
  readonly signal: AbortSignal;
}

export const JobState = z.enum(['waiting', 'running', 'done', 'dead']);
export type JobState = z.infer<typeof JobState>;

/** A job as pages and exports see it; the payload stays inside, since it may hold a secret. */
export const JobSummary = z.object({
  id: z.string(),
  kind: z.string(),
  key: z.string().nullable(),
  state: JobState,
  attempts: z.int(),
  createdAt: z.number().describe('ms since the epoch'),
  runAt: z.number().describe('ms since the epoch: when it is tried next; not before the first of its order key'),
  lastError: z.string().nullable(),
});
export type JobSummary = z.infer<typeof JobSummary>;

/** Somebody tried a waiting or given-up job of this service again, or dropped it, past the service's own routes. */
export const jobsChanged = defineTopic('jobs.changed', z.object({ service: z.string() }));

export interface JobHandlerOptions<T, R = void> {
  /**
   * Writes what handlers returned in the transaction that marks their jobs done; all that ended together come at once. It
   * touches only `transaction`, and runs again when that could not be committed. Not waited for by the disk, as the marks.
   */
  readonly record?: (transaction: Kysely<any>, results: readonly R[]) => Promise<void>;
  /**
   * What `record` needs of a result. With it an end is noted in a file, like one of a kind without `record`, and the table
   * is told a moment later of many at once ({@link Jobs.flush}); after a crash `record` gets what this schema reads.
   */
  readonly result?: z.core.$ZodType<R>;
  /** Called once the end of a job is stored, in the file or in the table. */
  readonly onDone?: (results: readonly R[]) => void;
  /**
   * Called after the row was marked dead: the attempts are used up or the failure was final. Once as a rule; again in a later
   * process, or by another host, where it threw or the process ended before it returned. Not for a payload that no longer fits.
   */
  readonly onDead?: (attempt: Omit<JobAttempt<T>, 'signal'>, reason: string) => Promise<void> | void;
  /** `onDead` writes to the log what was given up and why, so that the host does not say it as well. */
  readonly logsDead?: true;
}

/**
 * The service's durable outbox: rows in its own database, so that enqueueing is part of the transaction that caused
 * the work. A handler may run more than once for one job (a crash after the effect, before the mark; a power cut within
 * a second after the mark, which is not waited for), so its effect must carry a stable key. It fails by throwing; a
 * Problem says whether and when to try again.
 */
export interface Jobs {
  /** `transaction` is the one the caller's own rows are written in. Returns the job's id (the first one's, for a key that is taken). */
  enqueue<T>(transaction: Kysely<any>, kind: JobKind<T>, payload: T, options?: JobOptions): Promise<string>;
  /** Many jobs in one statement. */
  enqueueAll<T>(
    transaction: Kysely<any>,
    kind: JobKind<T>,
    jobs: readonly ({ readonly payload: T } & JobOptions)[],
  ): Promise<void>;
  /** Starts working jobs of this kind; the disposal stops taking new ones. */
  handle<T, R = void>(
    kind: JobKind<T>,
    handler: (attempt: JobAttempt<T>) => Promise<R>,
    handling?: JobHandlerOptions<T, R>,
  ): Disposable;
  /** Resolves when all that ended so far stands in the tables, with what `record` writes. Whoever reads that asks this first. */
  flush(): Promise<void>;
  /** Newest first, 100 unless told; more than that are read beside the event loop. */
  list(filter?: {
    readonly state?: JobState;
    readonly kind?: string;
    /** Only jobs with one of these keys. */
    readonly keys?: readonly string[];
    /** The id of a job: only older ones, to read on where a list has ended. */
    readonly before?: string | undefined;
    readonly limit?: number;
  }): Promise<readonly JobSummary[]>;
  /** The keys of jobs that have one, newest first, read beside the event loop: for sums over many. */
  keys(filter: { readonly kind: string; readonly state: JobState; readonly limit: number }): Promise<readonly string[]>;
  count(state: JobState): Promise<number>;
  /** Makes a dead or waiting job due now. Returns false when there is none of that id. */
  retry(id: string): Promise<boolean>;
  /**
   * Tries the first job of an order key now that waits out a failure: something tells that it may succeed. The attempt does
   * not count, so the waits after it are no longer for it. False when no job waits so.
   */
  retryNow<T>(kind: JobKind<T>, orderKey: string): Promise<boolean>;
  /** Removes a dead or waiting job for good. */
  drop(id: string): Promise<boolean>;
}
