import type { Jobs, JobState, JobSummary } from '../../contracts/jobs.ts';

/** Number of jobs per query. */
const pageSize = 500;
/** Number of jobs per commit. Larger commits would delay other writers. */
const commitSize = 64;

/**
 * Changes all jobs of a kind and state, the newest first, for example to retry or drop them. Returns the number of
 * changed jobs. Jobs that are added during the run are not changed.
 */
export async function forEachJob(
  jobs: Pick<Jobs, 'list'>,
  filter: { readonly kind: string; readonly state: JobState },
  change: (job: JobSummary) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  let before: string | undefined;
  for (;;) {
    const page = await jobs.list({ ...filter, before, limit: pageSize });
    for (let start = 0; start < page.length; start += commitSize) {
      const batch = page.slice(start, start + commitSize);
      changed += (await Promise.all(batch.map(change))).filter(Boolean).length;
    }
    if (page.length !== pageSize) return changed;
    before = page.at(-1)?.id;
  }
}
