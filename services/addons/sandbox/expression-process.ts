import { runJob, type JobResults, type Job } from './jobs.ts';

/** Runs one job in the limited child process. */
export function run(job: Job): JobResults[keyof JobResults] {
  return runJob(job);
}
