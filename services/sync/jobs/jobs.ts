import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { JobState } from '../../contracts/sync/api.ts';
import { redacted } from '../domain/redact.ts';
import { addStats, numberIn, type Stats } from '../domain/stats.ts';
import type { Engine, FileComplaint } from '../engine/engine.ts';
import { stoppable } from '../engine/stoppable-call.ts';
import type { FileRow, JobStore } from '../store/jobs.ts';
import type { Tables } from '../store/tables.ts';
import { exclusiveName } from './canonical-location.ts';
import type { JobIds } from './job-ids.ts';
import { Job, type JobOrder, type JobOutcome } from './job.ts';
import { PlaceLocks } from './location-locks.ts';

const second = 1000;
/** Time for which ended jobs are answered from memory. */
const rememberedMs = 60_000;
/** Maximum size of a response that is cached after it was delivered, in characters. */
const smallAnswer = 64 * 1024;
/** Maximum size of all cached responses; the oldest are dropped first. */
const rememberedAnswers = 64 * 1024 * 1024;
/** Maximum size of a response in the history. */
const storedAnswer = 1_000_000;

export interface JobsParts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'log'>;
  readonly engine: () => Engine;
  readonly ids: JobIds;
  readonly store: JobStore;
  readonly onChange: (job: Job) => void;
  readonly onEnd: (job: Job) => void;
}

/** Started job with a promise of its result. */
export interface BegunJob {
  readonly job: Job;
  readonly ended: Promise<JobOutcome>;
}

/** Runs jobs and stores them in the history. */
export class Jobs {
  readonly #parts: JobsParts;
  readonly #jobs = new Map<number, Job>();
  /** Running jobs; `#jobs` also holds thousands of ended ones if a client calls often. */
  readonly #running = new Set<Job>();
  readonly #locks = new PlaceLocks();
  readonly #ends = new Set<Promise<unknown>>();
  /** Sizes of cached responses, oldest first. */
  readonly #answers = new Map<Job, number>();
  #localStats: Stats = {};
  #ticking: Disposable | undefined;
  #closed = false;

  constructor(parts: JobsParts) {
    this.#parts = parts;
  }

  /** Returns running jobs and those that ended within the last minute. */
  get known(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  get running(): readonly Job[] {
    return [...this.#running];
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

  /** Starts a job. A durable job is stored when the promise resolves. */
  async begin(order: JobOrder): Promise<BegunJob> {
    if (this.#closed) throw new Problem('sync.stopped', 503, 'File sync is stopping.');
    const { context, ids, store } = this.#parts;
    const job = new Job(await ids.take(), order, context.clock.now());
    const { kind, account, source = '', destination = '', taskId = null, planId = null, attempt = 1 } = order;
    if (order.durable) {
      const input = JSON.stringify(redacted(order.input));
      await context.commit((transaction: Kysely<Tables>) =>
        store.insert(transaction, {
          id: job.id,
          kind,
          account,
          group_name: job.group,
          input,
          source,
          destination,
          state: 'waiting',
          attempt,
          started_at: job.startedAt,
          ended_at: null,
          error: '',
          output: '{}',
          stats: '{}',
          speeds: '{}',
          task_id: taskId,
          plan_id: planId,
        }),
      );
    }
    this.#jobs.set(job.id, job);
    this.#running.add(job);
    if (order.durable) this.#ticking ??= context.clock.every(second, () => void this.#tick());
    const ended = this.#run(job).finally(() => this.#ends.delete(ended));
    this.#ends.add(ended);
    return { job, ended };
  }

  /** Requests a job to stop; returns before it has ended. */
  stop(job: Job, as: JobState = 'stopped'): void {
    if (!job.isRunning || job.stopping.signal.aborted) return;
    job.stopsAs = as;
    job.stopping.abort(new Error('context canceled'));
  }

  /** Stops and removes the jobs of deleted accounts, so that no later account of that name sees them. */
  forget(isIts: (account: string) => boolean): void {
    const its = [...this.#jobs.values(), ...this.#running].filter(({ order }) => isIts(order.account));
    for (const job of its) {
      this.stop(job);
      this.#jobs.delete(job.id);
      this.#answers.delete(job);
    }
  }

  /** Records a file error from the engine's log. Its job is known only if a single job runs. */
  complained({ name, error }: FileComplaint): void {
    // An error without a name concerns a location that could not be listed, which the job itself reports if relevant.
    if (name === '') return;
    const running = this.running.filter(({ order }) => order.durable);
    const [only] = running;
    if (running.length !== 1 || only === undefined) return;
    only.noteError({ name, error, what: '', size: -1, at: this.#parts.context.clock.now() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#ticking?.[Symbol.dispose]();
    for (const job of this.running) this.stop(job, 'interrupted');
    await Promise.all(this.#ends);
  }

  async #run(job: Job): Promise<JobOutcome> {
    const { context, engine } = this.#parts;
    let outcome: JobOutcome;
    try {
      using _lock = await this.#lock(job);
      job.state = 'running';
      this.#parts.onChange(job);
      outcome = await (job.order.work?.(job) ?? this.#callEngine(job));
      if (job.order.durable) await this.#look(engine(), job);
    } catch (error) {
      if (!job.stopping.signal.aborted && !(error instanceof Problem)) context.log.error('sync job failed', { error });
      const words = error instanceof Problem ? error.detail : 'an internal error';
      const status = error instanceof Problem ? error.status : 500;
      outcome = { status, body: { error: words } };
    }
    await this.#end(job, outcome);
    return outcome;
  }

  async #lock(job: Job): Promise<Disposable> {
    const { writes = [] } = job.order;
    const names = await Promise.all(
      writes.map((place) => exclusiveName(this.#parts.engine(), place, job.stopping.signal)),
    );
    return names.length === 0 ? { [Symbol.dispose]: () => undefined } : this.#locks.take(names, job.stopping.signal);
  }

  async #callEngine(job: Job): Promise<JobOutcome> {
    const { context, engine } = this.#parts;
    const { kind: path, input } = job.order;
    return await stoppable(
      engine(),
      context.clock,
      { path, input },
      { group: job.engineGroup, signal: job.stopping.signal },
    );
  }

  async #end(job: Job, outcome: JobOutcome): Promise<void> {
    const { context, store, onEnd } = this.#parts;
    const isStopped = job.stopping.signal.aborted && outcome.status !== 200;
    const { error } = outcome.body;
    job.endedAt = context.clock.now();
    this.#countLocal(job);
    job.error =
      outcome.status === 200 ? '' : isStopped ? 'context canceled' : typeof error === 'string' ? error : 'failed';
    if (outcome.stats !== undefined) job.stats = { ...job.stats, ...outcome.stats };
    // The engine counts the creation of the destination as an error that users can neither find nor fix.
    const isWhole = outcome.status === 200 && job.errors.size === 0;
    if (isWhole && job.order.taskId !== undefined) job.stats = { ...job.stats, errors: 0 };
    const output = this.#remember(job, outcome);
    this.#running.delete(job);
    job.state = isStopped ? job.stopsAs : (outcome.state ?? (outcome.status === 200 ? 'done' : 'failed'));
    if (job.order.durable) {
      const end = {
        state: job.state,
        ended_at: job.endedAt,
        error: job.error,
        plan_id: job.planId,
        output: output.length > storedAnswer ? '{}' : output,
        stats: JSON.stringify(job.stats),
        speeds: JSON.stringify({ step: job.speedStep, values: job.speeds }),
      };
      const files = filesOf(job);
      await context
        .commit((transaction: Kysely<Tables>) => store.end(transaction, job.id, end, files))
        .catch((cause: unknown) => context.log.error('sync job result not stored', { error: cause }));
    }
    context.clock.after(rememberedMs, () => {
      this.#jobs.delete(job.id);
      this.#answers.delete(job);
    });
    if (this.#ticking !== undefined && !this.running.some(({ order }) => order.durable)) {
      this.#ticking?.[Symbol.dispose]();
      this.#ticking = undefined;
    }
    onEnd(job);
  }

  /** Caches the response for requests within the next minute. Returns it as JSON if it is small enough to be stored. */
  #remember(job: Job, { body, length, status }: JobOutcome): string {
    const { durable, isAsync = false } = job.order;
    job.output = {};
    if (status !== 200 || (length ?? 0) > rememberedAnswers || (!isAsync && (length ?? 0) > smallAnswer)) return '{}';
    const text = durable || length === undefined ? JSON.stringify(body) : '';
    const size = length ?? text.length;
    if (size > (isAsync ? rememberedAnswers : smallAnswer)) return '{}';
    job.output = body;
    this.#answers.set(job, size);
    let total = [...this.#answers.values()].reduce((sum, each) => sum + each, 0);
    for (const [old, its] of this.#answers) {
      if (total <= rememberedAnswers) break;
      old.output = {};
      this.#answers.delete(old);
      total -= its;
    }
    return text === '' ? '{}' : text;
  }

  async #tick(): Promise<void> {
    const engine = this.#parts.engine();
    for (const job of this.running) {
      if (!job.order.durable || job.state !== 'running') continue;
      await this.#look(engine, job);
      this.#parts.onChange(job);
    }
  }

  #countLocal(job: Job): void {
    if (job.local === undefined) return;
    job.local.end();
    job.stats = job.local.stats;
    this.#localStats = addStats([this.#localStats, job.stats]);
  }

  #note(job: Job, stats: Stats): void {
    const bytes = numberIn(stats, 'bytes') - numberIn(job.stats, 'bytes');
    job.stats = stats;
    if (job.isRunning) job.noteSpeed(Math.max(0, bytes));
  }

  /** Reads the current totals and errors. */
  async #look(engine: Engine, job: Job): Promise<void> {
    if (job.local !== undefined) return this.#note(job, job.local.stats);
    const group = job.engineGroup;
    const [stats, transferred] = await Promise.all([
      engine.look('core/stats', { group }),
      engine.look('core/transferred', { group }),
    ]);
    if (stats?.status === 200) this.#note(job, stats.body);
    const list = transferred?.body['transferred'];
    if (!Array.isArray(list)) return;
    for (const entry of list as readonly Readonly<Record<string, unknown>>[]) {
      const { error, name, what, size, completed_at: at } = entry;
      if (typeof error !== 'string' || error === '' || typeof name !== 'string' || name === '') continue;
      job.noteError({
        name,
        error,
        what: typeof what === 'string' ? what : '',
        size: typeof size === 'number' ? size : -1,
        at: typeof at === 'string' ? Date.parse(at) || job.startedAt : job.startedAt,
      });
    }
  }
}

function filesOf(job: Job): readonly FileRow[] {
  return [...job.errors.values()].map((file, seq) => ({ job_id: job.id, seq, ...file }));
}
