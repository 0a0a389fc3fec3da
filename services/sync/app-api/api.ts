import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { syncApi, type PlannedAction, type SyncJob, type SyncTask } from '../../contracts/sync/api.ts';
import { causeOf } from '../domain/cause.ts';
import type { Plan, PlannedFile } from '../domain/plan.ts';
import type { Engine } from '../engine/engine.ts';
import type { RemoteSetups } from '../engine/remote-setup.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Access, Caller } from '../rclone-api/access.ts';
import { CallError } from '../rclone-api/call-error.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import type { PlanStore, StoredPlan } from '../store/plans.ts';
import type { Task, TaskStore } from '../store/tasks.ts';
import type { Tasks } from '../tasks/tasks.ts';
import { browse } from './browse.ts';
import { remoteHandlers } from './remotes.ts';
import { jobView, rowView, taskView } from './views.ts';

export interface ApiParts {
  readonly context: Pick<Context, 'engines'>;
  readonly access: Access;
  readonly engine: () => Engine;
  readonly jobs: Jobs;
  readonly runs: JobStore;
  readonly tasks: Tasks;
  readonly taskStore: TaskStore;
  readonly plans: PlanStore;
  readonly setups: RemoteSetups;
}

const mostErrors = 1000;
type Asked = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params' | 'rights'>;
const done = { ok: true } as const;

/** Our own API, for the pages. */
export function syncHandlers(parts: ApiParts): readonly ApiHandler[] {
  return [...jobHandlers(parts), ...taskHandlers(parts), ...planHandlers(parts), ...remoteHandlers(parts)];
}

function callerOf({ identity, rights }: Pick<Asked, 'identity' | 'rights'>): Caller {
  return { account: identity?.account ?? '', all: rights.all };
}

function sees(asked: Asked, account: string): boolean {
  return asked.rights.all || asked.identity?.account === account;
}

function jobHandlers({ context, engine, jobs, runs, tasks, taskStore, plans }: ApiParts): readonly ApiHandler[] {
  const rowOf = async (asked: Asked): Promise<JobRow> => {
    const row = await runs.find(idOf(asked));
    if (row === undefined || !sees(asked, row.account))
      throw new Problem('sync.unknown_job', 404, 'There is no such job.');
    return row;
  };
  const view = (row: JobRow): SyncJob => {
    const job = jobs.find(row.id);
    return job?.isRunning === true ? jobView(job) : rowView(row);
  };
  /** A number of errors tells nobody what to do: the first of them stands with it. */
  const told = async (rows: readonly JobRow[]): Promise<SyncJob[]> => {
    const shown = rows.map(view);
    const firsts = await runs.firstFiles(shown.filter(({ totals }) => totals.errors > 0).map(({ id }) => id));
    return shown.map((job) => {
      const first = firsts.get(job.id);
      return first === undefined
        ? job
        : { ...job, failedFile: { name: first.name, error: causeOf(first.error).error } };
    });
  };
  return [
    implement(syncApi.overview, async (asked) => {
      const list = (await taskStore.list()).filter(({ account }) => sees(asked, account));
      const found = await context.engines.find('rclone');
      return {
        running: jobs.running.filter(({ order }) => order.durable && sees(asked, order.account)).map(jobView),
        tasks: await Promise.all(list.map((task) => withLast(task, runs, view))),
        engine: { version: found.version, remedy: found.remedy, running: engine().isRunning },
      };
    }),
    implement(syncApi.jobs, async ({ query: { limit, before, task, show, q }, ...asked }) => {
      const rows = await runs.list({
        ...{ limit, before, task, file: q },
        ...(asked.rights.all ? {} : { account: asked.identity?.account ?? '' }),
        ...(show === 'problems' ? { ended: { in: ['failed', 'held', 'interrupted'] as const } } : {}),
        ...(show === 'worked' ? { ended: { well: true as const } } : {}),
      });
      return {
        items: await told(rows),
        nextCursor: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
      };
    }),
    implement(syncApi.job, async (asked) => {
      const row = await rowOf(asked);
      const job = jobs.find(row.id);
      const errors = job?.isRunning === true ? [...job.errors.values()] : await runs.files(row.id, mostErrors);
      const planId = job?.planId ?? row.plan_id;
      const plan = planId === null ? undefined : await plans.find(planId);
      return {
        job: view(row),
        errors: errors.map(({ name, what, size, at, error }) => ({ name, what, size, at, ...causeOf(error) })),
        plan: plan?.summary ?? null,
      };
    }),
    implement(syncApi.stop, async (asked) => {
      const job = jobs.find((await rowOf(asked)).id);
      if (job !== undefined) jobs.stop(job);
      return done;
    }),
    implement(syncApi.undo, async (asked) => ({ id: (await tasks.undo(await rowOf(asked))).id })),
  ];
}

function taskHandlers({ jobs, runs, tasks, taskStore }: ApiParts): readonly ApiHandler[] {
  const view = (row: JobRow): SyncJob => {
    const job = jobs.find(row.id);
    return job?.isRunning === true ? jobView(job) : rowView(row);
  };
  const find = async (asked: Asked): Promise<Task> => {
    const task = await taskStore.find(idOf(asked));
    if (task === undefined || !sees(asked, task.account))
      throw new Problem('sync.unknown_task', 404, 'There is no such saved sync.');
    return task;
  };
  const shown = async (id: number): Promise<SyncTask> => {
    const task = await taskStore.find(id);
    if (task === undefined) throw new Problem('sync.unknown_task', 404, 'There is no such saved sync.');
    return withLast(task, runs, view);
  };
  return [
    implement(syncApi.addTask, async ({ body, ...asked }) => shown((await tasks.add(callerOf(asked), body)).id)),
    implement(syncApi.task, async (asked) => shown((await find(asked)).id)),
    implement(syncApi.changeTask, async ({ body, ...asked }) => {
      const task = await find(asked);
      await tasks.change(callerOf(asked), task, body);
      return shown(task.id);
    }),
    implement(syncApi.removeTask, async (asked) => {
      await tasks.remove(await find(asked));
      return done;
    }),
    implement(syncApi.preview, async (asked) => ({ id: (await tasks.preview(await find(asked))).id })),
    implement(syncApi.run, async ({ body, ...asked }) => ({ id: (await tasks.run(await find(asked), body.plan)).id })),
    implement(syncApi.pause, async (asked) => {
      await tasks.pause(await find(asked));
      return done;
    }),
    implement(syncApi.resume, async (asked) => {
      await tasks.resume(await find(asked));
      return done;
    }),
  ];
}

function planHandlers({ access, engine, plans, taskStore }: ApiParts): readonly ApiHandler[] {
  const find = async (asked: Asked): Promise<StoredPlan> => {
    const stored = await plans.find(idOf(asked));
    const task = stored === undefined ? undefined : await taskStore.find(stored.summary.taskId);
    if (stored === undefined || task === undefined || !sees(asked, task.account)) {
      throw new Problem('sync.no_plan', 404, 'There is no such preview.');
    }
    return stored;
  };
  return [
    implement(syncApi.plan, async (asked) => (await find(asked)).summary),
    implement(syncApi.planFiles, async ({ query: { what, offset, limit }, ...asked }) => {
      const files = filesOf((await find(asked)).plan, what);
      return {
        items: files.slice(offset, offset + limit).map(({ path, size }) => ({ path, size })),
        total: files.length,
      };
    }),
    implement(syncApi.browse, async ({ query: { at }, ...asked }) => {
      try {
        return { entries: await browse(engine(), await access.place(callerOf(asked), at, 'read')) };
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        // What the caller may not see has words of its own already.
        const why = error.status === 403 ? error.message : causeOf(error.message, at).error;
        throw new Problem('sync.forbidden', error.status, `This cannot be shown. ${sentence(why)}`);
      }
    }),
  ];
}

async function withLast(task: Task, runs: JobStore, view: (row: JobRow) => SyncJob): Promise<SyncTask> {
  const [last] = await runs.list({ task: task.id, limit: 1 });
  return taskView(task, last === undefined ? null : view(last));
}

function filesOf(plan: Plan, what: PlannedAction): readonly PlannedFile[] {
  if (what === 'delete') return plan.deletes;
  return what === 'update' ? plan.updates : plan.creates;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`;
}

function idOf({ params }: Pick<Asked, 'params'>): number {
  return /^\d{1,15}$/.test(params['id'] ?? '') ? Number(params['id']) : -1;
}
