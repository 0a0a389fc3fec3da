import type { Plan } from './plan.ts';

/** Number of files that a run may delete without approval. */
export interface DeleteLimits {
  readonly files: number;
  /** Share of the files at the destination. */
  readonly percent: number;
}

/** Number of deletes from which the percentage applies: a few files are always a large share of a small folder. */
const minDeletesForPercent = 5;

/** Returns the reasons why a plan needs approval, as sentences; an empty list if it may run automatically. */
export function getApprovalReasons(plan: Plan, { files, percent }: DeleteLimits): readonly string[] {
  const count = plan.deletes.length - plan.scraps;
  if (count === 0) return [];
  if (plan.sourceFiles === 0) {
    return [`The source is empty, and ${formatFileCount(count)} at the destination would be deleted.`];
  }
  const reasons: string[] = [];
  if (count > files) reasons.push(`It would delete ${formatFileCount(count)}; ${String(files)} are allowed.`);
  const share = (100 * count) / Math.max(1, plan.destinationFiles - plan.scraps);
  if (count >= minDeletesForPercent && share > percent) {
    reasons.push(
      `It would delete ${String(Math.round(share))} % of the destination; ${String(percent)} % are allowed.`,
    );
  }
  return reasons;
}

function formatFileCount(count: number): string {
  return count === 1 ? '1 file' : `${String(count)} files`;
}
