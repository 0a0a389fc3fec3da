import { runJob, type Answers, type Job } from './jobs.ts';

/** Entry of the limited child process: does one job. */
export function run(job: Job): Answers[keyof Answers] {
  return runJob(job);
}
