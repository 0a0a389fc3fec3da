import type { Job } from '../jobs/job.ts';
import type { JobRow } from '../store/jobs.ts';

const zeroTime = '0001-01-01T00:00:00Z';

/** Returns `job/status` of a running or recently ended job. */
export function toJobStatus(job: Job, executeId: string): Record<string, unknown> {
  return buildStatus(
    {
      id: job.id,
      group: job.group,
      startedAt: job.startedAt,
      endedAt: job.endedAt,
      error: job.error,
      succeeded: job.state === 'done',
      output: job.isRunning ? null : job.output,
    },
    executeId,
  );
}

/** Returns `job/status` of a job in the history. */
export function toRowStatus(row: JobRow, executeId: string): Record<string, unknown> {
  return buildStatus(
    {
      id: row.id,
      group: row.group_name,
      startedAt: row.started_at,
      endedAt: row.ended_at,
      error: row.error,
      succeeded: row.state === 'done',
      output: JSON.parse(row.output) as unknown,
    },
    executeId,
  );
}

interface JobFields {
  readonly id: number;
  readonly group: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly error: string;
  readonly succeeded: boolean;
  readonly output: unknown;
}

function buildStatus({ id, group, startedAt, endedAt, error, succeeded, output }: JobFields, executeId: string) {
  return {
    duration: endedAt === null ? 0 : (endedAt - startedAt) / 1000,
    endTime: endedAt === null ? zeroTime : new Date(endedAt).toISOString(),
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
