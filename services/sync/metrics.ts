import type { Metrics } from '../contracts/metrics.ts';
import type { Job } from './jobs/job.ts';
import { getNumber } from './domain/stats.ts';

export interface SyncMetrics {
  readonly answered: (status: number) => void;
  readonly ended: (job: Job) => void;
}

/** Registers the metrics of this service. Labels never contain names of remotes, folders or files. */
export function createMetrics(
  metrics: Metrics,
  { running, engineUp }: { readonly running: () => number; readonly engineUp: () => boolean },
): SyncMetrics {
  const calls = metrics.counter({
    name: 'sync_calls_total',
    help: 'Calls of the remote control that were answered.',
    labels: ['result'],
    initial: [{ result: 'ok' }, { result: 'refused' }, { result: 'failed' }],
  });
  const jobs = metrics.counter({
    name: 'sync_jobs_total',
    help: 'Jobs of the history that ended.',
    labels: ['state'],
    initial: ['done', 'failed', 'stopped', 'interrupted', 'held'].map((state) => ({ state })),
  });
  const bytes = metrics.counter({
    name: 'sync_transferred_bytes_total',
    help: 'Bytes that were copied.',
    initial: [{}],
  });
  const files = metrics.counter({
    name: 'sync_transferred_files_total',
    help: 'Files that were copied.',
    initial: [{}],
  });
  const deleted = metrics.counter({
    name: 'sync_deleted_files_total',
    help: 'Files that were deleted.',
    initial: [{}],
  });
  const errors = metrics.counter({ name: 'sync_errors_total', help: 'Errors about files.', initial: [{}] });
  const seconds = metrics.histogram({
    name: 'sync_job_duration_seconds',
    help: 'How long jobs of the history took.',
    buckets: [0.1, 1, 10, 60, 300, 1800, 3600, 21_600],
  });
  metrics.gauge({ name: 'sync_jobs_running', help: 'Jobs that run or wait now.', collect: running });
  metrics.gauge({
    name: 'sync_engine_up',
    help: 'Whether rclone runs; it is stopped when idle.',
    collect: () => (engineUp() ? 1 : 0),
  });
  return {
    answered: (status) => calls.inc({ result: status === 200 ? 'ok' : status === 403 ? 'refused' : 'failed' }),
    ended({ order, state, stats, startedAt, endedAt }) {
      if (!order.durable) return;
      jobs.inc({ state });
      bytes.inc({}, getNumber(stats, 'bytes'));
      files.inc({}, getNumber(stats, 'transfers'));
      deleted.inc({}, getNumber(stats, 'deletes'));
      errors.inc({}, getNumber(stats, 'errors'));
      seconds.observe(((endedAt ?? startedAt) - startedAt) / 1000);
    },
  };
}
