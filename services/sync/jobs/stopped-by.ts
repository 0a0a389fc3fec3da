import type { Job, JobOutcome } from './job.ts';
import type { Jobs } from './jobs.ts';

/** Waits for the end of a job, which is stopped when the signal aborts, as the peer does for a caller that disconnects. */
export async function stoppedBy(
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
