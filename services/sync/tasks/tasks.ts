import * as m from '#messages/sync-problems';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { getPathExamples } from '../../contracts/path-examples.ts';
import type { Kysely } from 'kysely';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { Problem } from '../../contracts/problem.ts';
import { readText } from '../../contracts/text.ts';
import type { Context } from '../../contracts/service.ts';
import { syncChanged, type TaskFields } from '../../contracts/sync/api.ts';
import { getRetryDelayMs } from '../domain/backoff.ts';
import { findCommandOption } from '../domain/command-options.ts';
import { compileExclusion, PatternError } from '../domain/exclusion.ts';
import { parseLocation, formatLocation } from '../domain/location.ts';
import type { Job, JobRequest } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Access, Caller } from '../access/access.ts';
import { CallError } from '../access/call-error.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import { getFingerprint } from '../store/plans.ts';
import type { Task, TaskStore } from '../store/tasks.ts';
import { getNextRun } from './schedule.ts';
import type { Mover } from './mover.ts';
import type { SyncNotifications } from './sync-notifications.ts';
import { runTask, preview, requireReplacedFilesFolder, undo, type Endpoints, type RunDependencies } from './run.ts';
import { runOutsideRequests } from '../../kit/language.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';

const checkIntervalMs = 15_000;
/** The same if other hosts change tasks, or end while they run them. */
const sharedCheckIntervalMs = 2000;

/** Stores of tasks and of their runs. */
export interface TaskStores {
  readonly store: TaskStore;
  readonly runs: JobStore;
}

export interface TasksOptions extends RunDependencies {
  readonly context: Pick<Context, 'accounts' | 'bus' | 'clock' | 'commit' | 'leases' | 'log' | 'singleHost'>;
  readonly access: Access;
  readonly jobs: Jobs;
  readonly stores: TaskStores;
  readonly notifications: SyncNotifications;
  /** Returns the mover for a run. @throws Problem if rclone is required and missing. */
  readonly createMover: (endpoints: Endpoints, job: Job) => Promise<Mover>;
}

/** Manages sync tasks: their schedule, their runs, retries and notifications. */
export class Tasks {
  readonly #options: TasksOptions;
  #schedule: RepeatingTask | undefined;
  #holds = 0;
  /** Rows of this process that are older belong to a former run of the service. */
  readonly #openedAt: number;

  constructor(options: TasksOptions) {
    this.#options = options;
    this.#openedAt = options.context.clock.now();
  }

  /** Starts the schedule, including runs that were due or interrupted while no host ran it. */
  async startSchedule(): Promise<AsyncDisposable> {
    await this.#resumeInterrupted();
    const { clock, log, singleHost } = this.#options.context;
    const intervalMs = singleHost ? checkIntervalMs : sharedCheckIntervalMs;
    const onError = (error: unknown): void => log.error('sync schedule failed', { error });
    const check = async (): Promise<void> => {
      if (!singleHost) await this.#resumeInterrupted();
      await this.#startDue();
    };
    const schedule = new RepeatingTask(check, { clock, intervalMs, onError });
    this.#schedule = schedule;
    this.startDueTasks();
    return {
      [Symbol.asyncDispose]: async () => {
        this.#schedule = undefined;
        await schedule[Symbol.asyncDispose]();
      },
    };
  }

  /** Marks jobs of hosts that have ended as interrupted; their tasks are due now. */
  async #resumeInterrupted(): Promise<void> {
    const { clock, commit, leases } = this.#options.context;
    const { runs, store } = this.#options.stores;
    const hosts = await runs.listRunningHosts();
    if (hosts.length === 0) return;
    const ended = await leases.findEnded(hosts.flatMap((host) => host ?? []));
    const now = clock.now();
    const isEnded = ({ host, started_at: startedAt }: Pick<JobRow, 'host' | 'started_at'>): boolean =>
      host === null || ended.has(host) || (host === leases.hostId && Number(startedAt) < this.#openedAt);
    const interrupted = await commit(async (transaction: Kysely<any>) => {
      const rows = await runs.interrupt(transaction, now, isEnded);
      for (const { task_id: id, kind } of rows) {
        if (id !== null && kind === 'run') await store.change(transaction, id, { nextAt: now });
      }
      return rows;
    });
    if (interrupted.length > 0) this.#publishChange();
  }

  /** Pauses the schedule until the result is disposed. */
  pauseSchedule(): Disposable {
    this.#holds += 1;
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1;
        this.startDueTasks();
      },
    };
  }

  /** Starts due tasks, whose runs have nothing to do with the request that calls this. */
  startDueTasks(): void {
    runOutsideRequests(() => this.#schedule?.trigger());
  }

  async add(caller: Caller, fields: TaskFields): Promise<Task> {
    const { context } = this.#options;
    const { store } = this.#options.stores;
    await this.#check(caller, fields);
    const now = context.clock.now();
    const task = { account: caller.account, fields, paused: false, nextAt: getScheduledTime(fields, now), failures: 0 };
    const id = await context.commit((transaction) => store.insert(transaction, task, now));
    this.#publishChange();
    return { id, ...task };
  }

  async change(caller: Caller, task: Task, fields: TaskFields): Promise<void> {
    const { context } = this.#options;
    const { store } = this.#options.stores;
    // The task runs with the permissions of its owner, even if another account changes it.
    await this.#check(caller, fields);
    await this.#check(await this.#getOwner(task), fields);
    const nextAt = getScheduledTime(fields, context.clock.now());
    await context.commit((transaction) => store.change(transaction, task.id, { fields, nextAt, failures: 0 }));
    this.#publishChange();
  }

  async remove({ id }: Task): Promise<void> {
    const { context } = this.#options;
    const { store } = this.#options.stores;
    const running = this.findRunningJob(id);
    if (running !== undefined) this.#options.jobs.stop(running);
    await context.commit((transaction) => store.remove(transaction, id));
    this.#publishChange();
  }

  findRunningJob(id: number): Job | undefined {
    return this.#options.jobs.running.find(({ order }) => order.taskId === id);
  }

  /** @throws Problem `sync.runs` (409), `sync.no_plan` (404), `sync.old_plan` (409) */
  async run(task: Task, planId?: number): Promise<Job> {
    const { plans } = this.#options;
    const approvedPlan = planId === undefined ? undefined : await plans.find(planId);
    if (planId !== undefined && approvedPlan?.summary.taskId !== task.id) {
      throw new Problem('sync.no_plan', 404, m.previewOfOtherTask());
    }
    if (approvedPlan !== undefined && approvedPlan.fingerprint !== getFingerprint(task.fields)) {
      throw new Problem('sync.old_plan', 409, m.previewOutdated());
    }
    const endpoints = await this.#getEndpoints(task);
    return await this.#startJob(task, {
      kind: 'run',
      endpoints,
      writes: [endpoints.destination],
      ...(planId === undefined ? {} : { planId }),
      work: async (job) =>
        runTask(this.#options, await this.#options.createMover(endpoints, job), job, {
          task,
          endpoints,
          approvedPlan,
        }),
    });
  }

  async preview(task: Task): Promise<Job> {
    const endpoints = await this.#getEndpoints(task);
    return await this.#startJob(task, {
      kind: 'preview',
      endpoints,
      work: async (job) =>
        preview(this.#options, await this.#options.createMover(endpoints, job), job, task, endpoints),
    });
  }

  /** @throws Problem `sync.no_undo` (409) */
  async undo(row: JobRow): Promise<Job> {
    const { context, plans } = this.#options;
    const { runs, store } = this.#options.stores;
    const task = row.task_id === null ? undefined : await store.find(row.task_id);
    const stored = row.plan_id === null ? undefined : await plans.find(row.plan_id);
    if (task === undefined && canUndo(row)) throw new Problem('sync.no_undo', 409, m.syncDeleted());
    if (task === undefined || stored === undefined || !canUndo(row)) {
      throw new Problem('sync.no_undo', 409, m.noUndo());
    }
    const endpoints = await this.#getEndpoints(task);
    if (endpoints.destination !== (parseInput(row)['at'] ?? row.destination)) {
      throw new Problem('sync.no_undo', 409, m.destinationChanged());
    }
    return await this.#startJob(task, {
      kind: 'undo',
      endpoints,
      writes: [endpoints.destination],
      work: async (job) => {
        const mover = await this.#options.createMover(endpoints, job);
        const outcome = await undo(mover, job, { task, endpoints, plan: stored.plan, runId: row.id });
        if (outcome.status === 200) {
          await context.commit((transaction) =>
            runs.setInput(transaction, row.id, { ...parseInput(row), keepReplaced: false }),
          );
        }
        return outcome;
      },
    });
  }

  async pause(task: Task): Promise<void> {
    const { context, jobs } = this.#options;
    const { store } = this.#options.stores;
    const running = this.findRunningJob(task.id);
    // A run that was paused is due when the pause ends.
    const nextAt = running?.order.kind === 'run' ? 0 : task.nextAt;
    await context.commit((transaction) => store.change(transaction, task.id, { paused: true, nextAt }));
    if (running !== undefined) jobs.stop(running);
    this.#publishChange();
  }

  async resume(task: Task): Promise<void> {
    const { context } = this.#options;
    const { store } = this.#options.stores;
    const now = context.clock.now();
    // Scheduled times during the pause are skipped.
    const nextAt = task.nextAt === 0 ? now : getScheduledTime(task.fields, now);
    await context.commit((transaction) => store.change(transaction, task.id, { paused: false, nextAt }));
    this.#publishChange();
    this.startDueTasks();
  }

  /** Schedules a retry or sends a notification after a job has ended. */
  async ended(job: Job): Promise<void> {
    const { context, notifications } = this.#options;
    const { store } = this.#options.stores;
    const { kind, taskId } = job.order;
    if (taskId === undefined || kind !== 'run' || job.isTakenOver) return;
    const task = await store.find(taskId);
    if (task === undefined) return;
    const now = context.clock.now();
    const scheduledAt = getScheduledTime(task.fields, now);
    const hasFailed = job.state === 'failed' || job.state === 'interrupted';
    const failures = hasFailed ? task.failures + 1 : 0;
    const willRetry = hasFailed && failures <= task.fields.retries;
    const retryAt = job.state === 'interrupted' ? now : now + getRetryDelayMs(failures);
    const nextAt = willRetry ? Math.min(retryAt, scheduledAt ?? Infinity) : task.paused ? task.nextAt : scheduledAt;
    await context.commit(async (transaction: Kysely<any>) => {
      await store.change(transaction, taskId, { failures: willRetry ? failures : 0, nextAt });
      if (!willRetry && job.state !== 'stopped') await notifications.enqueue(transaction, task, job);
    });
    this.#publishChange();
  }

  async #startDue(): Promise<void> {
    if (this.#holds > 0) return;
    const { context } = this.#options;
    const { store } = this.#options.stores;
    const now = context.clock.now();
    // After the clock was set back, tasks must not wait for the time that was already reached.
    for (const task of await store.list()) {
      const scheduledAt = getScheduledTime(task.fields, now);
      if (
        task.paused ||
        task.failures > 0 ||
        task.nextAt === null ||
        scheduledAt === null ||
        task.nextAt <= scheduledAt
      )
        continue;
      await context.commit((transaction) => store.change(transaction, task.id, { nextAt: scheduledAt }));
    }
    for (const task of await store.due(now)) {
      if (this.#schedule === undefined) return;
      if (await this.#isRunning(task.id)) continue;
      try {
        await this.run(task);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        context.log.warn('sync task not started', { task: task.id, reason: error.message });
      }
      const nextAt = getScheduledTime(task.fields, context.clock.now());
      // A task that has already failed has its next attempt set.
      await context.commit((transaction) => store.setNext(transaction, task, nextAt));
    }
  }

  async #startJob(
    task: Task,
    {
      endpoints,
      ...request
    }: Pick<JobRequest, 'kind' | 'work' | 'writes' | 'planId'> & { readonly endpoints: Endpoints },
  ): Promise<Job> {
    if (await this.#isRunning(task.id)) throw new Problem('sync.runs', 409, m.alreadyRunning());
    const { fields } = task;
    const { job } = await this.#options.jobs.start({
      ...request,
      account: task.account,
      input: {
        mode: fields.mode,
        exclude: fields.exclude,
        keepReplaced: request.kind === 'run' && fields.keepReplaced,
        at: endpoints.destination,
      },
      source: formatLocation(fields.source),
      destination: formatLocation(fields.destination),
      durable: true,
      taskId: task.id,
      attempt: task.failures + 1,
    });
    this.#publishChange();
    return job;
  }

  /** Returns whether this or another host runs a job of the task. */
  async #isRunning(id: number): Promise<boolean> {
    if (this.findRunningJob(id) !== undefined) return true;
    return !this.#options.context.singleHost && (await this.#options.stores.runs.isTaskRunning(id));
  }

  /** Checks the locations with the current permissions of the owner. @throws Problem 403 */
  async #getEndpoints(task: Task): Promise<Endpoints> {
    return await this.#check(await this.#getOwner(task), task.fields);
  }

  async #getOwner({ account }: Task): Promise<Caller> {
    const owner = await this.#options.context.accounts.find(account);
    if (owner?.enabled !== true) throw new Problem('sync.no_owner', 403, m.ownerMissing);
    return { account, all: owner.role === 'admin' };
  }

  async #check(caller: Caller, fields: TaskFields): Promise<Endpoints> {
    const { access, context } = this.#options;
    getScheduledTime(fields, context.clock.now());
    for (const field of ['source', 'destination'] as const) {
      const { photos } = getPathExamples(currentPlatform);
      const detail = m.locationInvalid({ folder: photos });
      if (
        parseLocation(fields[field], hasWindowsPaths()).kind === 'inline' ||
        findCommandOption(fields[field]) !== undefined
      ) {
        throw new Problem('sync.invalid', 422, detail, { fields: { [field]: detail } });
      }
    }
    try {
      compileExclusion(fields.exclude, { expressions: caller.all });
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw new Problem('sync.invalid', 422, error.message, { fields: { exclude: error.message } });
    }
    if (fields.source === fields.destination) {
      const detail = m.destinationIsSource();
      throw new Problem('sync.invalid', 422, detail, { fields: { destination: detail } });
    }
    try {
      const source = await access.checkLocation(caller, fields.source, 'read');
      const destination = await access.checkTree(caller, fields.destination);
      if (fields.keepReplaced) await access.checkLocation(caller, requireReplacedFilesFolder(destination, 1), 'write');
      return { source, destination };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      const text = error.text ?? error.message;
      throw new Problem('sync.location_not_allowed', 403, () => m.notAllowed({ reason: readText(text) }));
    }
  }

  #publishChange(): void {
    this.#options.context.bus.publish(syncChanged, { jobId: null });
  }
}

/** Returns true if a run, or a deletion in the file manager, can be undone. */
export function canUndo(row: JobRow): boolean {
  const hasFiles = row.kind === 'files/delete' || (row.kind === 'run' && row.plan_id !== null);
  return hasFiles && row.ended_at !== null && parseInput(row)['keepReplaced'] === true;
}

function parseInput(row: JobRow): Record<string, unknown> {
  return JSON.parse(row.input) as Record<string, unknown>;
}

function getScheduledTime({ cron, zone }: TaskFields, now: number): number | null {
  return cron === null ? null : (getNextRun(cron, zone, now) ?? null);
}
