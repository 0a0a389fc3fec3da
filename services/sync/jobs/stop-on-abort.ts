import type { Job, JobOutcome } from './job.ts';
import type { Jobs } from './jobs.ts';

/** Waits for the end of a job and stops it when the signal aborts, as rclone does when a client disconnects. */
export async function stopOnAbort(
  signal: AbortSignal | undefined,
  jobs: Pick<Jobs, 'stop'>,
  job: Job,
  ended: Promise<JobOutcome>,
): Promise<JobOutcome> {
  const stop = (): void => jobs.stop(job);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await ended;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
