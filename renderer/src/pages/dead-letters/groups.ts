import type { GivenUpJob } from './dead-letters.svelte.ts';

/** Work that failed for the same reason, newest first. */
export interface GivenUpGroup {
  readonly newest: GivenUpJob;
  readonly jobs: readonly GivenUpJob[];
}

/** Fewer stand one by one: each can be seen at once. */
const fromJobs = 4;

/** Work by its cause, in the order of the newest of each; what has few of its cause stands by itself. */
export function byCause(all: readonly GivenUpJob[]): readonly GivenUpGroup[] {
  const groups = Map.groupBy(all, ({ service, kind, lastError }) => `${service}\n${kind}\n${lastError ?? ''}`);
  return [...groups.values()].flatMap((jobs) => {
    const [newest] = jobs;
    if (newest === undefined) return [];
    return jobs.length < fromJobs ? jobs.map((job) => ({ newest: job, jobs: [job] })) : [{ newest, jobs }];
  });
}
