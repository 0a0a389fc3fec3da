import type { LanguageChoice } from '../../../messages/language.ts';
import { runInLanguage } from '../../kit/language.ts';
import { runJob, type JobResults, type Job } from './jobs.ts';

/** Job with the language of its texts. */
export interface LocalizedJob {
  readonly job: Job;
  readonly language: LanguageChoice;
}

/** Runs one job in the limited child process. */
export async function run({ job, language }: LocalizedJob): Promise<JobResults[keyof JobResults]> {
  return await runInLanguage(language, () => runJob(job));
}
