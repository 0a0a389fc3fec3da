import * as m from '#messages/sync-problems';
import { implement, type ApiHandler, type ApiRequest } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { syncApi, type PlannedAction, type SyncJob, type SyncPlan, type SyncTask } from '../../contracts/sync/api.ts';
import { explainApprovalReason } from '../domain/delete-limits.ts';
import { explainFailure } from '../domain/failure-cause.ts';
import type { Plan, PlannedFile } from '../domain/plan.ts';
import type { RemoteSetups } from '../engine/remote-setup.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Caller } from '../access/access.ts';
import { toStoredFailure, type JobRow, type JobStore } from '../store/jobs.ts';
import type { PlanStore, StoredPlan } from '../store/plans.ts';
import type { Task, TaskStore } from '../store/tasks.ts';
import { withFileProblems } from '../files/file-problem.ts';
import type { Tasks } from '../tasks/tasks.ts';
import { fileHandlers, type FileDependencies } from './files.ts';
import { remoteHandlers } from './remotes.ts';
import { toJobView, toRowView, toTaskView } from './job-views.ts';

/** Running jobs, their history and the plans of runs. */
export interface JobExecution {
  readonly jobs: Jobs;
  readonly runs: JobStore;
  readonly plans: PlanStore;
}

export interface ApiDependencies extends FileDependencies {
  readonly context: Pick<Context, 'engines'>;
  readonly execution: JobExecution;
  readonly tasks: Tasks;
  readonly taskStore: TaskStore;
  readonly setups: RemoteSetups;
}

const maxErrors = 1000;
type AppRequest = Pick<ApiRequest<unknown, unknown>, 'identity' | 'params' | 'rights'>;
const done = { ok: true } as const;

/** Returns the handlers of the app API. */
export function syncHandlers(dependencies: ApiDependencies): readonly ApiHandler[] {
  return [
    ...listHandlers(dependencies),
    ...jobHandlers(dependencies),
    ...taskHandlers(dependencies),
    ...planHandlers(dependencies),
    ...fileHandlers(dependencies),
    ...remoteHandlers(dependencies),
  ];
}

function toCaller({ identity, rights }: Pick<AppRequest, 'identity' | 'rights'>): Caller {
  return { account: identity?.account ?? '', all: rights.all };
}

function canSee(request: AppRequest, account: string): boolean {
  return request.rights.all || request.identity?.account === account;
}

/** Returns the handlers that list jobs and tasks. */
function listHandlers({
  context,
  engine,
  execution: { jobs, runs },
  taskStore,
}: ApiDependencies): readonly ApiHandler[] {
  return [
    implement(syncApi.overview, async (request) => {
      const list = (await taskStore.list()).filter(({ account }) => canSee(request, account));
      const rclone = await context.engines.find('rclone');
      return {
        running: jobs.running.filter(({ order }) => order.durable && canSee(request, order.account)).map(toJobView),
        tasks: await Promise.all(list.map((task) => withLastJob(task, runs, jobs))),
        engine: { version: rclone.version, remedy: rclone.remedy, running: engine.isRunning },
      };
    }),
    implement(syncApi.jobs, async ({ query: { limit, before, task, show, q }, ...request }) => {
      const rows = await runs.list({
        limit,
        before,
        task,
        file: q,
        ...(request.rights.all ? {} : { account: request.identity?.account ?? '' }),
        ...(show === 'problems' ? { ended: { in: ['failed', 'held', 'interrupted'] as const } } : {}),
        ...(show === 'worked' ? { ended: { well: true as const } } : {}),
      });
      return {
        items: await withFailedFiles(rows, jobs, runs),
        nextCursor: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
      };
    }),
  ];
}

/** Returns the handlers of a single job. */
function jobHandlers({
  execution: { jobs, runs, plans },
  fileManager: { fileJobs },
  tasks,
}: ApiDependencies): readonly ApiHandler[] {
  const getRow = async (request: AppRequest): Promise<JobRow> => {
    const row = await runs.find(getId(request));
    if (row === undefined || !canSee(request, row.account)) throw new Problem('sync.unknown_job', 404, m.jobNotFound());
    return row;
  };
  return [
    implement(syncApi.job, async (request) => {
      const row = await getRow(request);
      const job = jobs.find(row.id);
      const errors =
        job?.isRunning === true
          ? [...job.errors.values()]
          : (await runs.files(row.id, maxErrors)).map((file) => ({ ...file, ...toStoredFailure(file) }));
      const planId = job?.planId ?? row.plan_id;
      const plan = planId === null ? undefined : await plans.find(planId);
      return {
        job: toJob(row, jobs),
        errors: errors.map((file) => {
          const { name, what: action, size, at } = file;
          return { name, what: action, size, at, ...explainFailure(file) };
        }),
        plan: plan === undefined ? null : toPlanView(plan),
      };
    }),
    implement(syncApi.stop, async (request) => {
      const job = jobs.find((await getRow(request)).id);
      if (job !== undefined) jobs.stop(job);
      return done;
    }),
    implement(syncApi.undo, async (request) => {
      const row = await getRow(request);
      const job = row.kind === 'files/delete' ? fileJobs.undo(toCaller(request), row) : tasks.undo(row);
      return { id: (await withFileProblems(row.destination, () => job)).id };
    }),
  ];
}

/** Returns the current state of a job that runs, or the stored state of one that has ended. */
function toJob(row: JobRow, jobs: Jobs): SyncJob {
  const job = jobs.find(row.id);
  return job?.isRunning === true ? toJobView(job) : toRowView(row);
}

/** Adds the first failed file to jobs with errors, because a number alone does not help users. */
async function withFailedFiles(rows: readonly JobRow[], jobs: Jobs, runs: JobStore): Promise<SyncJob[]> {
  const visibleJobs = rows.map((row) => toJob(row, jobs));
  const firstFiles = await runs.firstFiles(visibleJobs.filter(({ totals }) => totals.errors > 0).map(({ id }) => id));
  return visibleJobs.map((job) => {
    const firstFile = firstFiles.get(job.id);
    return firstFile === undefined
      ? job
      : {
          ...job,
          failedFile: {
            name: firstFile.name,
            error: explainFailure(toStoredFailure(firstFile)).error,
          },
        };
  });
}

function taskHandlers({ execution: { jobs, runs }, tasks, taskStore }: ApiDependencies): readonly ApiHandler[] {
  const find = async (request: AppRequest): Promise<Task> => {
    const task = await taskStore.find(getId(request));
    if (task === undefined || !canSee(request, task.account))
      throw new Problem('sync.unknown_task', 404, m.taskNotFound());
    return task;
  };
  const getView = async (id: number): Promise<SyncTask> => {
    const task = await taskStore.find(id);
    if (task === undefined) throw new Problem('sync.unknown_task', 404, m.taskNotFound());
    return withLastJob(task, runs, jobs);
  };
  return [
    implement(syncApi.addTask, async ({ body, ...request }) => getView((await tasks.add(toCaller(request), body)).id)),
    implement(syncApi.task, async (request) => getView((await find(request)).id)),
    implement(syncApi.changeTask, async ({ body, ...request }) => {
      const task = await find(request);
      await tasks.change(toCaller(request), task, body);
      return getView(task.id);
    }),
    implement(syncApi.removeTask, async (request) => {
      await tasks.remove(await find(request));
      return done;
    }),
    implement(syncApi.preview, async (request) => ({ id: (await tasks.preview(await find(request))).id })),
    implement(syncApi.run, async ({ body, ...request }) => ({
      id: (await tasks.run(await find(request), body.plan)).id,
    })),
    implement(syncApi.pause, async (request) => {
      await tasks.pause(await find(request));
      return done;
    }),
    implement(syncApi.resume, async (request) => {
      await tasks.resume(await find(request));
      return done;
    }),
  ];
}

function planHandlers({ execution: { plans }, taskStore }: ApiDependencies): readonly ApiHandler[] {
  const find = async (request: AppRequest): Promise<StoredPlan> => {
    const stored = await plans.find(getId(request));
    const task = stored === undefined ? undefined : await taskStore.find(stored.summary.taskId);
    if (stored === undefined || task === undefined || !canSee(request, task.account)) {
      throw new Problem('sync.no_plan', 404, m.previewNotFound());
    }
    return stored;
  };
  return [
    implement(syncApi.plan, async (request) => toPlanView(await find(request))),
    implement(syncApi.planFiles, async ({ query: { what, offset, limit }, ...request }) => {
      const files = getFiles((await find(request)).plan, what);
      return {
        items: files.slice(offset, offset + limit).map(({ path, size }) => ({ path, size })),
        total: files.length,
      };
    }),
  ];
}

function toPlanView({ summary, approvalReasons }: StoredPlan): SyncPlan {
  return { ...summary, brakes: approvalReasons.map(explainApprovalReason) };
}

async function withLastJob(task: Task, runs: JobStore, jobs: Jobs): Promise<SyncTask> {
  const [lastRow] = await runs.list({ task: task.id, limit: 1 });
  return toTaskView(task, lastRow === undefined ? null : toJob(lastRow, jobs));
}

function getFiles(plan: Plan, plannedAction: PlannedAction): readonly PlannedFile[] {
  if (plannedAction === 'delete') return plan.deletes;
  return plannedAction === 'update' ? plan.updates : plan.creates;
}

function getId({ params }: Pick<AppRequest, 'params'>): number {
  return /^\d{1,15}$/.test(params['id'] ?? '') ? Number(params['id']) : -1;
}
