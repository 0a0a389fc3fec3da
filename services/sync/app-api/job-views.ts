import { running, type JobState, type SyncJob, type SyncTask } from '../../contracts/sync/api.ts';
import { explainFailure, findRcloneFailure } from '../domain/failure-cause.ts';
import { getNumber, type Stats } from '../domain/stats.ts';
import type { Job } from '../jobs/job.ts';
import { toStoredFailure, type JobRow } from '../store/jobs.ts';
import type { Task } from '../store/tasks.ts';
import { canUndo } from '../tasks/tasks.ts';

/** Converts a running or recently ended job. */
export function toJobView(job: Job): SyncJob {
  const { account, kind, source = '', destination = '', taskId = null } = job.order;
  return {
    id: job.id,
    kind,
    account,
    source,
    destination,
    state: job.state,
    startedAt: job.startedAt,
    endedAt: job.endedAt,
    ...explainFailure(job.failure, source),
    lacksSource: lacksSource(job.state, job.error),
    taskId,
    planId: job.planId,
    totals: toTotals(job.stats),
    speeds: { step: job.speedStep, values: [...job.speeds] },
    canUndo: false,
  };
}

/** Converts a job of the history. */
export function toRowView(row: JobRow): SyncJob {
  return {
    id: row.id,
    kind: row.kind,
    account: row.account,
    source: row.source,
    destination: row.destination,
    state: row.state,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    ...explainFailure(toStoredFailure(row), row.source),
    lacksSource: lacksSource(row.state, row.error),
    taskId: row.task_id,
    planId: row.plan_id,
    totals: toTotals(JSON.parse(row.stats) as Stats),
    speeds: parseSpeeds(row.speeds),
    canUndo: canUndo(row) && !running.includes(row.state),
  };
}

function lacksSource(state: JobState, error: string): boolean {
  return state === 'failed' && findRcloneFailure(error) === 'folder_missing';
}

export function toTaskView(task: Task, last: SyncJob | null): SyncTask {
  const { id, account, fields, paused, nextAt } = task;
  return { ...fields, id, account, paused, nextAt: nextAt === 0 ? null : nextAt, last };
}

function toTotals(stats: Stats): SyncJob['totals'] {
  const list = Array.isArray(stats['transferring']) ? (stats['transferring'] as Stats[]) : [];
  const number = (key: string): number => getNumber(stats, key);
  return {
    bytes: number('bytes'),
    totalBytes: number('totalBytes'),
    transfers: number('transfers'),
    totalTransfers: number('totalTransfers'),
    checks: number('checks'),
    deletes: number('deletes'),
    errors: number('errors'),
    speed: number('speed'),
    eta: typeof stats['eta'] === 'number' ? stats['eta'] : null,
    transferring: list.map((file) => ({
      name: typeof file['name'] === 'string' ? file['name'] : '',
      size: getNumber(file, 'size'),
      bytes: getNumber(file, 'bytes'),
    })),
  };
}

function parseSpeeds(text: string): SyncJob['speeds'] {
  const parsed = JSON.parse(text) as Partial<SyncJob['speeds']>;
  return { step: parsed.step ?? 1, values: parsed.values ?? [] };
}
