import * as m from '#messages/sync-problems';
import type { Kysely } from 'kysely';
import { FailureProblem, failures, type ServiceFailure } from '../domain/failures.ts';
import { Problem } from '../../contracts/problem.ts';
import { runOutsideRequests } from '../../kit/language.ts';
import type { Context } from '../../contracts/service.ts';
import type { JobState } from '../../contracts/sync/api.ts';
import { redact } from '../domain/redact.ts';
import { addStats, getNumber, type Stats } from '../domain/stats.ts';
import type { Engine, LoggedFileError } from '../engine/engine.ts';
import { callStoppable } from '../engine/stoppable-call.ts';
import type { FileRow, JobStore } from '../store/jobs.ts';
import type { Tables } from '../store/tables.ts';
import { getCanonicalLocation } from './canonical-location.ts';
import type { JobIds } from './job-ids.ts';
import { Job, type JobRequest, type JobOutcome } from './job.ts';
import { LocationLocks } from './location-locks.ts';
import type { SyncEvents } from './sync-events.ts';

const secondMs = 1000;
/** Time for which ended jobs are answered from memory. */
const cacheMs = 60_000;
/** Maximum size of a response that is cached after it was delivered, in characters. */
const maxDeliveredResponse = 64 * 1024;
/** Maximum size of all cached responses; the oldest are dropped first. */
const maxCachedResponses = 64 * 1024 * 1024;
/** Maximum size of a response in the history. */
const maxStoredResponse = 1_000_000;

export interface JobsOptions {
  readonly context: Pick<Context, 'clock' | 'commit' | 'leases' | 'log' | 'singleHost'>;
  readonly engine: Engine;
  readonly ids: JobIds;
  readonly store: JobStore;
  readonly events: SyncEvents;
}

/** Started job with a promise of its result. */
export interface StartedJob {
  readonly job: Job;
  readonly ended: Promise<JobOutcome>;
}

/** Runs jobs and stores them in the history. */
export class Jobs {
  readonly #options: JobsOptions;
  readonly #jobs = new Map<number, Job>();
  /** Running jobs; `#jobs` also holds thousands of ended ones if a client calls often. */
  readonly #running = new Set<Job>();
  /** Jobs that are being stored. */
  readonly #starting = new Set<number>();
  /** Ends of jobs that are being stored, by task. */
  readonly #endings = new Map<number, Promise<void>>();
  readonly #locks = new LocationLocks();
  readonly #pending = new Set<Promise<unknown>>();
  /** Sizes of cached responses, oldest first. */
  readonly #cachedSizes = new Map<Job, number>();
  #localStats: Stats = {};
  #ticking: Disposable | undefined;
  #closed = false;

  constructor(options: JobsOptions) {
    this.#options = options;
    options.events.on('fileError', (error) => this.#addLoggedError(error));
  }

  /** Returns running jobs and those that ended within the last minute. */
  get recent(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  get running(): readonly Job[] {
    return [...this.#running];
  }

  /** Returns the running jobs of the history. */
  get durable(): readonly Job[] {
    return this.running.filter(({ order }) => order.durable);
  }

  /** Returns the totals of all jobs of the built-in engine. */
  get localStats(): Stats {
    return addStats([
      this.#localStats,
      ...this.running.flatMap(({ local }) => (local === undefined ? [] : [local.stats])),
    ]);
  }

  find(id: number): Job | undefined {
    return this.#jobs.get(id);
  }

  /**
   * Starts a job. A durable job is stored when the promise resolves.
   * @throws Problem `sync.runs` (409) when a host already runs a job of the same task
   */
  async start(order: JobRequest): Promise<StartedJob> {
    if (this.#closed) throw new Problem('sync.stopped', 503, m.stopping);
    const { context, ids } = this.#options;
    const job = new Job(await ids.take(), order, context.clock.now());
    if (order.durable) await this.#insert(job);
    this.#jobs.set(job.id, job);
    this.#running.add(job);
    const ended = runOutsideRequests(() => this.#begin(job)).finally(() => this.#pending.delete(ended));
    this.#pending.add(ended);
    return { job, ended };
  }

  /** Stores a new job. @throws Problem `sync.runs` (409) */
  async #insert(job: Job): Promise<void> {
    const { context, store } = this.#options;
    const { kind, account, input, source = '', destination = '', taskId, planId = null, attempt = 1 } = job.order;
    const { hostId } = context.leases;
    const row = {
      id: job.id,
      kind,
      account,
      group_name: job.group,
      input: JSON.stringify(redact(input)),
      source,
      destination,
      state: 'waiting',
      attempt,
      host: hostId,
      started_at: job.startedAt,
      ended_at: null,
      error: '',
      output: '{}',
      stats: '{}',
      speeds: '{}',
      task_id: taskId ?? null,
      plan_id: planId,
    } as const;
    // The previous job of the task may have ended without being stored yet.
    if (taskId !== undefined) await this.#endings.get(taskId);
    this.#starting.add(job.id);
    try {
      const isStored = await context.commit(async (transaction: Kysely<Tables>) => {
        const ids = [...this.#starting, ...this.durable.map(({ id }) => id)];
        if (taskId !== undefined)
          await store.interruptLeftovers(transaction, { task: taskId, host: hostId, now: job.startedAt }, ids);
        return await store.insert(transaction, row);
      });
      if (!isStored) throw new Problem('sync.runs', 409, m.alreadyRunning());
      this.#running.add(job);
    } finally {
      this.#starting.delete(job.id);
    }
  }

  /** Requests a job to stop; returns before it has ended. */
  stop(job: Job, as: JobState = 'stopped'): void {
    if (!job.isRunning || job.stopping.signal.aborted) return;
    job.stopsAs = as;
    job.stopping.abort(new Error('context canceled'));
  }

  /** Stops and removes the jobs of deleted accounts, so that no later account of that name sees them. */
  removeJobsOf(isAffected: (account: string) => boolean): void {
    const affected = [...this.#jobs.values(), ...this.#running].filter(({ order }) => isAffected(order.account));
    for (const job of affected) {
      this.stop(job);
      this.#jobs.delete(job.id);
      this.#cachedSizes.delete(job);
    }
  }

  /** Records a file error from the engine's log. Its job is known only if a single job runs. */
  #addLoggedError({ name, error }: LoggedFileError): void {
    // An error without a name concerns a location that could not be listed, which the job itself reports if relevant.
    if (name === '') return;
    const running = this.running.filter(({ order }) => order.durable);
    const [onlyJob] = running;
    if (running.length !== 1 || onlyJob === undefined) return;
    onlyJob.addError({ name, error, code: '', what: '', size: -1, at: this.#options.context.clock.now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#ticking?.[Symbol.dispose]();
    for (const job of this.running) this.stop(job, 'interrupted');
    await Promise.all(this.#pending);
  }

  /** Runs a job. Its result is stored and sent to clients of rclone, so it must not be in the language of a page. */
  #begin(job: Job): Promise<JobOutcome> {
    if (job.order.durable) {
      this.#ticking ??= this.#options.context.clock.every(secondMs, () => {
        this.#tick().catch((error: unknown) => this.#options.context.log.warn('sync statistics failed', { error }));
      });
    }
    return this.#run(job);
  }

  async #run(job: Job): Promise<JobOutcome> {
    const { context, engine } = this.#options;
    let outcome: JobOutcome;
    try {
      using _lock = await this.#lock(job);
      job.state = 'running';
      this.#options.events.emit('jobChange', job);
      outcome = await (job.order.work?.(job) ?? this.#callEngine(job));
      if (job.order.durable) await this.#updateStats(engine, job);
    } catch (error) {
      if (!job.stopping.signal.aborted && !(error instanceof Problem)) context.log.error('sync job failed', { error });
      const failure = toFailure(error);
      outcome = {
        status: error instanceof Problem ? error.status : 500,
        body: { error: failure.error },
        failure,
      };
    }
    await this.#end(job, outcome);
    return outcome;
  }

  async #lock(job: Job): Promise<Disposable> {
    const { writes = [] } = job.order;
    const locations = await Promise.all(
      writes.map((place) => getCanonicalLocation(this.#options.engine, place, job.stopping.signal)),
    );
    return locations.length === 0
      ? { [Symbol.dispose]: () => undefined }
      : this.#locks.take(locations, job.stopping.signal);
  }

  async #callEngine(job: Job): Promise<JobOutcome> {
    const { context, engine } = this.#options;
    const { kind: path, input } = job.order;
    return await callStoppable(
      engine,
      context.clock,
      { path, input },
      { group: job.engineGroup, signal: job.stopping.signal },
    );
  }

  async #end(job: Job, outcome: JobOutcome): Promise<void> {
    const { context, events } = this.#options;
    const isStopped = job.stopping.signal.aborted && outcome.status !== 200;
    const { error } = outcome.body;
    job.endedAt = context.clock.now();
    this.#addLocalStats(job);
    Object.assign(job, isStopped ? stoppedError : toJobError(outcome, error));
    if (outcome.stats !== undefined) job.stats = { ...job.stats, ...outcome.stats };
    // The engine counts the creation of the destination as an error that users can neither find nor fix.
    const isComplete = outcome.status === 200 && job.errors.size === 0;
    if (isComplete && job.order.taskId !== undefined) job.stats = { ...job.stats, errors: 0 };
    const output = this.#cacheResponse(job, outcome);
    this.#running.delete(job);
    job.state = isStopped ? job.stopsAs : (outcome.state ?? (outcome.status === 200 ? 'done' : 'failed'));
    if (job.order.durable) await this.#storeEnd(job, output);
    context.clock.after(cacheMs, () => {
      this.#jobs.delete(job.id);
      this.#cachedSizes.delete(job);
    });
    if (this.#ticking !== undefined && !this.running.some(({ order }) => order.durable)) {
      this.#ticking?.[Symbol.dispose]();
      this.#ticking = undefined;
    }
    events.emit('jobEnd', job);
  }

  /** Stores the end of a job; never rejects. */
  async #storeEnd(job: Job, output: string): Promise<void> {
    const { context, store } = this.#options;
    const { taskId } = job.order;
    const end = {
      state: job.state,
      ended_at: job.endedAt,
      error: job.error,
      error_code: job.errorCode,
      error_parameters: JSON.stringify(job.errorParameters),
      plan_id: job.planId,
      output: output.length > maxStoredResponse ? '{}' : output,
      stats: JSON.stringify(job.stats),
      speeds: JSON.stringify({ step: job.speedStep, values: job.speeds }),
    };
    const files = toFileRows(job);
    const ending = Promise.withResolvers<void>();
    if (taskId !== undefined) this.#endings.set(taskId, ending.promise);
    try {
      job.isTakenOver = !(await context.commit((transaction: Kysely<Tables>) =>
        store.end(transaction, job.id, end, files),
      ));
    } catch (cause) {
      context.log.error('sync job result not stored', { error: cause });
    }
    if (taskId !== undefined) this.#endings.delete(taskId);
    ending.resolve();
  }

  /** Caches the response for requests within the next minute. Returns it as JSON if it is small enough to be stored. */
  #cacheResponse(job: Job, { body, length, status }: JobOutcome): string {
    const { durable, isAsync = false } = job.order;
    job.output = {};
    if (status !== 200 || (length ?? 0) > maxCachedResponses || (!isAsync && (length ?? 0) > maxDeliveredResponse))
      return '{}';
    const text = durable || length === undefined ? JSON.stringify(body) : '';
    const size = length ?? text.length;
    if (size > (isAsync ? maxCachedResponses : maxDeliveredResponse)) return '{}';
    job.output = body;
    this.#cachedSizes.set(job, size);
    let total = [...this.#cachedSizes.values()].reduce((sum, each) => sum + each, 0);
    for (const [oldJob, cachedSize] of this.#cachedSizes) {
      if (total <= maxCachedResponses) break;
      oldJob.output = {};
      this.#cachedSizes.delete(oldJob);
      total -= cachedSize;
    }
    return text === '' ? '{}' : text;
  }

  async #tick(): Promise<void> {
    const { context, engine } = this.#options;
    if (!context.singleHost) await this.#stopTakenOver();
    for (const job of this.running) {
      if (!job.order.durable || job.state !== 'running') continue;
      await this.#updateStats(engine, job);
      this.#options.events.emit('jobChange', job);
    }
  }

  /** Stops jobs that another host has marked as interrupted, because this one did not respond. */
  async #stopTakenOver(): Promise<void> {
    const durable = this.durable;
    const stillRunning = await this.#options.store.listRunning(durable.map(({ id }) => id));
    for (const job of durable) if (!stillRunning.has(job.id)) this.stop(job, 'interrupted');
  }

  #addLocalStats(job: Job): void {
    if (job.local === undefined) return;
    job.local.end();
    job.stats = job.local.stats;
    this.#localStats = addStats([this.#localStats, job.stats]);
  }

  #setStats(job: Job, stats: Stats): void {
    const bytes = getNumber(stats, 'bytes') - getNumber(job.stats, 'bytes');
    job.stats = stats;
    if (job.isRunning) job.addSpeed(Math.max(0, bytes));
  }

  /** Reads the current totals and errors. */
  async #updateStats(engine: Engine, job: Job): Promise<void> {
    if (job.local !== undefined) return this.#setStats(job, job.local.stats);
    const group = job.engineGroup;
    const [stats, transferred] = await Promise.all([
      engine.callIfRunning('core/stats', { group }),
      engine.callIfRunning('core/transferred', { group }),
    ]);
    if (stats?.status === 200) this.#setStats(job, stats.body);
    const list = transferred?.body['transferred'];
    if (!Array.isArray(list)) return;
    for (const entry of list as readonly Readonly<Record<string, unknown>>[]) {
      const { error, name, what, size, completed_at: completedAt } = entry;
      if (typeof error !== 'string' || error === '' || typeof name !== 'string' || name === '') continue;
      job.addError({
        name,
        error,
        code: '',
        what: typeof what === 'string' ? what : '',
        size: typeof size === 'number' ? size : -1,
        at: typeof completedAt === 'string' ? Date.parse(completedAt) || job.startedAt : job.startedAt,
      });
    }
  }
}

/** Error of a job, as it is stored. */
type JobError = Pick<Job, 'error' | 'errorCode' | 'errorParameters'>;

const stoppedError = toStoredError(failures.stopped.create({}));

/** Returns the failure of a job that threw an error. The text of an unexpected error is only for the log. */
function toFailure(error: unknown): ServiceFailure {
  if (error instanceof FailureProblem) return error.failure;
  if (!(error instanceof Problem)) return failures.internal.create({});
  return { code: error.code, parameters: {}, error: error.message };
}

function toStoredError({ code, parameters, error }: ServiceFailure): JobError {
  return { error, errorCode: code, errorParameters: parameters };
}

function toJobError({ status, failure }: JobOutcome, error: unknown): JobError {
  if (status === 200) return { error: '', errorCode: '', errorParameters: {} };
  if (failure !== undefined) return toStoredError(failure);
  if (typeof error === 'string') return { error, errorCode: '', errorParameters: {} };
  return toStoredError(failures.unstated.create({}));
}

function toFileRows(job: Job): readonly FileRow[] {
  return [...job.errors.values()].map(({ code, parameters = {}, ...file }, seq) => ({
    ...{ job_id: job.id, seq, ...file },
    error_code: code,
    error_parameters: JSON.stringify(parameters),
  }));
}
