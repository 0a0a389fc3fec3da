import type { Jobs, JobState, JobSummary } from '../../contracts/jobs.ts';

/** So many are read at once. */
const step = 500;
/** So many share a commit: all at once would hold up what else goes on by as much as they are. */
const atOnce = 64;

/**
 * Goes through all jobs of a kind and state, the newest first: tries them again, say, or drops them. Returns how many were
 * changed. What comes while it is under way is left alone.
 */
export async function forEachJob(
  jobs: Pick<Jobs, 'list'>,
  which: { readonly kind: string; readonly state: JobState },
  change: (job: JobSummary) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  let before: string | undefined;
  for (;;) {
    const found = await jobs.list({ ...which, before, limit: step });
    for (let start = 0; start < found.length; start += atOnce) {
      const some = found.slice(start, start + atOnce);
      changed += (await Promise.all(some.map(change))).filter(Boolean).length;
    }
    if (found.length !== step) return changed;
    before = found.at(-1)?.id;
  }
}
