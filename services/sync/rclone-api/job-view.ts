import type { Job } from '../jobs/job.ts';
import type { JobRow } from '../store/jobs.ts';

const never = '0001-01-01T00:00:00Z';

/** `job/status` of a job that runs or ended a moment ago. */
export function statusOf(job: Job, executeId: string): Record<string, unknown> {
  return view(
    {
      ...{ id: job.id, group: job.group, startedAt: job.startedAt, endedAt: job.endedAt, error: job.error },
      ...{ succeeded: job.state === 'done', output: job.isRunning ? null : job.output },
    },
    executeId,
  );
}

/** The same of one in the history. */
export function statusOfRow(row: JobRow, executeId: string): Record<string, unknown> {
  return view(
    {
      ...{ id: row.id, group: row.group_name, startedAt: row.started_at, endedAt: row.ended_at, error: row.error },
      ...{ succeeded: row.state === 'done', output: JSON.parse(row.output) as unknown },
    },
    executeId,
  );
}

interface Viewed {
  readonly id: number;
  readonly group: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly error: string;
  readonly succeeded: boolean;
  readonly output: unknown;
}

function view({ id, group, startedAt, endedAt, error, succeeded, output }: Viewed, executeId: string) {
  return {
    duration: endedAt === null ? 0 : (endedAt - startedAt) / 1000,
    endTime: endedAt === null ? never : new Date(endedAt).toISOString(),
    error,
    executeId,
    finished: endedAt !== null,
    group,
    id,
    output,
    startTime: new Date(startedAt).toISOString(),
    success: succeeded,
  };
}
