import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { syncChanged, type TaskFields } from '../../contracts/sync/api.ts';
import { pauseAfter } from '../domain/backoff.ts';
import { commandIn } from '../domain/commands.ts';
import { exclusionOf, PatternError } from '../domain/exclude.ts';
import { readPlace, shownPlace } from '../domain/place.ts';
import type { Job, JobOrder } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Access, Caller } from '../rclone-api/access.ts';
import { CallError } from '../rclone-api/call-error.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import { fingerprintOf } from '../store/plans.ts';
import type { Task, TaskStore } from '../store/tasks.ts';
import { nextTime } from './calendar.ts';
import type { Mover } from './mover.ts';
import type { Notices } from './notices.ts';
import { carryOut, preview, replacedFor, undo, type Ends, type RunParts } from './run.ts';

const lookEveryMs = 15_000;

export interface TasksParts extends RunParts {
  readonly context: Pick<Context, 'accounts' | 'bus' | 'clock' | 'commit' | 'log'>;
  readonly access: Access;
  readonly jobs: Jobs;
  readonly runs: JobStore;
  readonly store: TaskStore;
  readonly notices: Notices;
  /** What can carry these out now. @throws Problem where only rclone could, and it is missing. */
  readonly moverFor: (ends: Ends, job: Job) => Promise<Mover>;
}

/** Saved syncs: their calendar, their runs, and what follows of an end. */
export class Tasks implements Disposable {
  readonly #parts: TasksParts;
  #timer: Disposable | undefined;
  #looking = false;
  #held = 0;
  #closed = false;

  constructor(parts: TasksParts) {
    this.#parts = parts;
  }

  /** Takes up what was due meanwhile, and what a host that was ended left undone. */
  async start(interrupted: readonly JobRow[]): Promise<void> {
    const { context, store } = this.#parts;
    for (const { task_id: id, kind } of interrupted) {
      if (id === null || kind !== 'run') continue;
      await context.commit((transaction) => store.change(transaction, id, { nextAt: context.clock.now() }));
    }
    this.#timer = context.clock.every(lookEveryMs, () => this.look());
    this.look();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
  }

  /** Starts nothing that is due until it is disposed. */
  hold(): Disposable {
    this.#held += 1;
    return {
      [Symbol.dispose]: () => {
        this.#held -= 1;
        this.look();
      },
    };
  }

  /** Starts what is due. */
  look(): void {
    if (this.#looking || this.#closed || this.#held > 0) return;
    this.#looking = true;
    this.#startDue()
      .catch((error: unknown) =>
        this.#parts.context.log.error('the calendar of syncs could not be followed', { error }),
      )
      .finally(() => (this.#looking = false));
  }

  async add(caller: Caller, fields: TaskFields): Promise<Task> {
    const { context, store } = this.#parts;
    await this.#check(caller, fields);
    const now = context.clock.now();
    const task = { account: caller.account, fields, paused: false, nextAt: calendarOf(fields, now), failures: 0 };
    const id = await context.commit((transaction) => store.insert(transaction, task, now));
    this.#changed();
    return { id, ...task };
  }

  async change(caller: Caller, task: Task, fields: TaskFields): Promise<void> {
    const { context, store } = this.#parts;
    // It runs with the rights of its owner, whoever changes it.
    await this.#check(caller, fields);
    await this.#check(await this.#owner(task), fields);
    const nextAt = calendarOf(fields, context.clock.now());
    await context.commit((transaction) => store.change(transaction, task.id, { fields, nextAt, failures: 0 }));
    this.#changed();
  }

  async remove({ id }: Task): Promise<void> {
    const { context, store } = this.#parts;
    const running = this.runningOf(id);
    if (running !== undefined) this.#parts.jobs.stop(running);
    await context.commit((transaction) => store.remove(transaction, id));
    this.#changed();
  }

  runningOf(id: number): Job | undefined {
    return this.#parts.jobs.running.find(({ order }) => order.taskId === id);
  }

  /** @throws Problem `sync.runs` (409), `sync.no_plan` (404), `sync.old_plan` (409) */
  async run(task: Task, planId?: number): Promise<Job> {
    const { plans } = this.#parts;
    const shown = planId === undefined ? undefined : await plans.find(planId);
    if (planId !== undefined && shown?.summary.taskId !== task.id) {
      throw new Problem('sync.no_plan', 404, 'There is no such preview of this sync.');
    }
    if (shown !== undefined && shown.fingerprint !== fingerprintOf(task.fields)) {
      throw new Problem('sync.old_plan', 409, 'The sync was changed after this preview. Look again.');
    }
    const ends = await this.#ends(task);
    return await this.#begin(task, {
      ...{ kind: 'run', ends, writes: [ends.destination], ...(planId === undefined ? {} : { planId }) },
      work: async (job) => carryOut(this.#parts, await this.#parts.moverFor(ends, job), job, { task, ends, shown }),
    });
  }

  async preview(task: Task): Promise<Job> {
    const ends = await this.#ends(task);
    return await this.#begin(task, {
      ...{ kind: 'preview', ends },
      work: async (job) => preview(this.#parts, await this.#parts.moverFor(ends, job), job, task, ends),
    });
  }

  /** @throws Problem `sync.no_undo` (409) */
  async undo(row: JobRow): Promise<Job> {
    const { context, plans, runs, store } = this.#parts;
    const task = row.task_id === null ? undefined : await store.find(row.task_id);
    const stored = row.plan_id === null ? undefined : await plans.find(row.plan_id);
    if (task === undefined || stored === undefined || !keepsReplaced(row)) {
      throw new Problem('sync.no_undo', 409, 'Nothing is kept of what this run replaced.');
    }
    const ends = await this.#ends(task);
    if (ends.destination !== (inputOf(row)['at'] ?? row.destination)) {
      throw new Problem('sync.no_undo', 409, 'The sync has another destination by now.');
    }
    return await this.#begin(task, {
      ...{ kind: 'undo', ends, writes: [ends.destination] },
      work: async (job) => {
        const mover = await this.#parts.moverFor(ends, job);
        const outcome = await undo(mover, job, { task, ends, plan: stored.plan, runId: row.id });
        if (outcome.status === 200) {
          await context.commit((transaction) =>
            runs.setInput(transaction, row.id, { ...inputOf(row), keepReplaced: false }),
          );
        }
        return outcome;
      },
    });
  }

  async pause(task: Task): Promise<void> {
    const { context, jobs, store } = this.#parts;
    const running = this.runningOf(task.id);
    // Due at once, when the pause is over.
    const nextAt = running?.order.kind === 'run' ? 0 : task.nextAt;
    await context.commit((transaction) => store.change(transaction, task.id, { paused: true, nextAt }));
    if (running !== undefined) jobs.stop(running);
    this.#changed();
  }

  async resume(task: Task): Promise<void> {
    const { context, store } = this.#parts;
    const now = context.clock.now();
    // What its calendar named during the pause is not made up for.
    const nextAt = task.nextAt === 0 ? now : calendarOf(task.fields, now);
    await context.commit((transaction) => store.change(transaction, task.id, { paused: false, nextAt }));
    this.#changed();
    this.look();
  }

  /** What follows of the end of a job: another try, somebody who is told. */
  async ended(job: Job): Promise<void> {
    const { context, notices, store } = this.#parts;
    const { kind, taskId } = job.order;
    if (taskId === undefined || kind !== 'run') return;
    const task = await store.find(taskId);
    if (task === undefined) return;
    const now = context.clock.now();
    const regular = calendarOf(task.fields, now);
    const isBroken = job.state === 'failed' || job.state === 'interrupted';
    const failures = isBroken ? task.failures + 1 : 0;
    const again = isBroken && failures <= task.fields.retries;
    const retryAt = job.state === 'interrupted' ? now : now + pauseAfter(failures);
    const nextAt = again ? Math.min(retryAt, regular ?? Infinity) : task.paused ? task.nextAt : regular;
    await context.commit(async (transaction: Kysely<any>) => {
      await store.change(transaction, taskId, { failures: again ? failures : 0, nextAt });
      if (!again && job.state !== 'stopped') await notices.enqueue(transaction, task, job);
    });
    this.#changed();
  }

  async #startDue(): Promise<void> {
    const { context, store } = this.#parts;
    const now = context.clock.now();
    // A clock that was set back must not make a calendar wait for the time it had reached.
    for (const task of await store.list()) {
      const regular = calendarOf(task.fields, now);
      if (task.paused || task.failures > 0 || task.nextAt === null || regular === null || task.nextAt <= regular)
        continue;
      await context.commit((transaction) => store.change(transaction, task.id, { nextAt: regular }));
    }
    for (const task of await store.due(now)) {
      if (this.#closed) return;
      if (this.runningOf(task.id) !== undefined) continue;
      try {
        await this.run(task);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        context.log.warn('a saved sync could not be started', { task: task.id, reason: error.detail });
      }
      const nextAt = calendarOf(task.fields, context.clock.now());
      // One that has failed by now has its next try set already.
      await context.commit((transaction) => store.setNext(transaction, task, nextAt));
    }
  }

  async #begin(
    task: Task,
    { ends, ...order }: Pick<JobOrder, 'kind' | 'work' | 'writes' | 'planId'> & { readonly ends: Ends },
  ): Promise<Job> {
    if (this.runningOf(task.id) !== undefined) throw new Problem('sync.runs', 409, 'It runs already.');
    const { fields } = task;
    const { job } = await this.#parts.jobs.begin({
      ...order,
      ...{
        account: task.account,
        input: {
          mode: fields.mode,
          exclude: fields.exclude,
          keepReplaced: order.kind === 'run' && fields.keepReplaced,
          at: ends.destination,
        },
      },
      ...{ source: shownPlace(fields.source), destination: shownPlace(fields.destination) },
      ...{ durable: true, taskId: task.id, attempt: task.failures + 1 },
    });
    this.#changed();
    return job;
  }

  /** With the rights that its owner has now. @throws Problem 403 */
  async #ends(task: Task): Promise<Ends> {
    return await this.#check(await this.#owner(task), task.fields);
  }

  async #owner({ account }: Task): Promise<Caller> {
    const owner = await this.#parts.context.accounts.find(account);
    if (owner?.enabled !== true)
      throw new Problem('sync.no_owner', 403, 'The account that saved this sync is gone or switched off.');
    return { account, all: owner.role === 'admin' };
  }

  async #check(caller: Caller, fields: TaskFields): Promise<Ends> {
    const { access, context } = this.#parts;
    calendarOf(fields, context.clock.now());
    for (const field of ['source', 'destination'] as const) {
      const detail = 'Write a folder such as /home/ada/Photos, or a remote such as drive:Photos.';
      if (
        readPlace(fields[field], process.platform === 'win32').kind === 'inline' ||
        commandIn(fields[field]) !== undefined
      ) {
        throw new Problem('sync.invalid', 422, detail, { fields: { [field]: detail } });
      }
    }
    try {
      exclusionOf(fields.exclude, { expressions: caller.all });
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw new Problem('sync.invalid', 422, `${error.message}.`, { fields: { exclude: `${error.message}.` } });
    }
    if (fields.source === fields.destination) {
      const detail = 'The destination is the source.';
      throw new Problem('sync.invalid', 422, detail, { fields: { destination: detail } });
    }
    try {
      const source = await access.place(caller, fields.source, 'read');
      const destination = await access.tree(caller, fields.destination);
      if (fields.keepReplaced) await access.place(caller, replacedFor(destination, 1), 'write');
      return { source, destination };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      throw new Problem('sync.forbidden', 403, `This is not allowed: ${error.message}.`);
    }
  }

  #changed(): void {
    this.#parts.context.bus.publish(syncChanged, { jobId: null });
  }
}

/** Whether what the run replaced can be put back. */
export function keepsReplaced(row: JobRow): boolean {
  return row.kind === 'run' && row.ended_at !== null && row.plan_id !== null && inputOf(row)['keepReplaced'] === true;
}

function inputOf(row: JobRow): Record<string, unknown> {
  return JSON.parse(row.input) as Record<string, unknown>;
}

function calendarOf({ cron, zone }: TaskFields, now: number): number | null {
  return cron === null ? null : (nextTime(cron, zone, now) ?? null);
}
