import { runJob, type Answers, type Job } from './jobs.ts';

/** Runs one job in the limited child process. */
export function run(job: Job): Answers[keyof Answers] {
  return runJob(job);
}
