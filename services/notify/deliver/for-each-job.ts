import type { Jobs, JobState, JobSummary } from '../../contracts/jobs.ts';

/** So many are read at once. */
const pageSize = 500;
/** So many share a commit: all at once would hold up what else goes on by as much as they are. */
const commitSize = 64;

/**
 * Goes through all jobs of a kind and state, the newest first: tries them again, say, or drops them. Returns how many were
 * changed. What comes while it is under way is left alone.
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
