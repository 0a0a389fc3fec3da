import { running, type SyncJob, type SyncTask } from '../../contracts/sync/api.ts';
import { causeOf } from '../domain/cause.ts';
import { numberIn, type Stats } from '../domain/stats.ts';
import type { Job } from '../jobs/job.ts';
import type { JobRow } from '../store/jobs.ts';
import type { Task } from '../store/tasks.ts';
import { keepsReplaced } from '../tasks/tasks.ts';

/** A job that runs or ended a moment ago. */
export function jobView(job: Job): SyncJob {
  const { account, kind, source = '', destination = '', taskId = null } = job.order;
  return {
    ...{ id: job.id, kind, account, source, destination, state: job.state, startedAt: job.startedAt },
    ...{ endedAt: job.endedAt, ...causeOf(job.error, source), taskId, planId: job.planId },
    totals: totalsOf(job.stats),
    speeds: { step: job.speedStep, values: [...job.speeds] },
    canUndo: false,
  };
}

/** One of the history. */
export function rowView(row: JobRow): SyncJob {
  return {
    ...{ id: row.id, kind: row.kind, account: row.account, source: row.source, destination: row.destination },
    ...{ state: row.state, startedAt: row.started_at, endedAt: row.ended_at, ...causeOf(row.error, row.source) },
    ...{ taskId: row.task_id, planId: row.plan_id, totals: totalsOf(JSON.parse(row.stats) as Stats) },
    speeds: speedsOf(row.speeds),
    canUndo: keepsReplaced(row) && !running.includes(row.state),
  };
}

export function taskView(task: Task, last: SyncJob | null): SyncTask {
  const { id, account, fields, paused, nextAt } = task;
  return { ...fields, id, account, paused, nextAt: nextAt === 0 ? null : nextAt, last };
}

function totalsOf(stats: Stats): SyncJob['totals'] {
  const list = Array.isArray(stats['transferring']) ? (stats['transferring'] as Stats[]) : [];
  const number = (key: string): number => numberIn(stats, key);
  return {
    ...{ bytes: number('bytes'), totalBytes: number('totalBytes'), transfers: number('transfers') },
    ...{ totalTransfers: number('totalTransfers'), checks: number('checks'), deletes: number('deletes') },
    ...{ errors: number('errors'), speed: number('speed') },
    eta: typeof stats['eta'] === 'number' ? stats['eta'] : null,
    transferring: list.map((file) => ({
      name: typeof file['name'] === 'string' ? file['name'] : '',
      size: numberIn(file, 'size'),
      bytes: numberIn(file, 'bytes'),
    })),
  };
}

function speedsOf(text: string): SyncJob['speeds'] {
  const read = JSON.parse(text) as Partial<SyncJob['speeds']>;
  return { step: read.step ?? 1, values: read.values ?? [] };
}
