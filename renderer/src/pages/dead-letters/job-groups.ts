import type { DeadJob } from '../../state/dead-letters/dead-letters.svelte.ts';

/** Jobs that failed for the same reason, newest first. */
export interface DeadJobGroup {
  readonly newest: DeadJob;
  readonly jobs: readonly DeadJob[];
}

/** Minimum size of a group; fewer jobs are listed individually. */
const minGroupSize = 4;

/** Groups jobs by cause in the order of their newest job; small groups are listed as single jobs. */
export function groupByCause(all: readonly DeadJob[]): readonly DeadJobGroup[] {
  const groups = Map.groupBy(all, ({ service, kind, lastError }) => `${service}\n${kind}\n${lastError ?? ''}`);
  return [...groups.values()].flatMap((jobs) => {
    const [newest] = jobs;
    if (newest === undefined) return [];
    return jobs.length < minGroupSize ? jobs.map((job) => ({ newest: job, jobs: [job] })) : [{ newest, jobs }];
  });
}
