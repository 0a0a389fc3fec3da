import * as m from '#messages/sync-causes';
import { z } from 'zod';
import type { Plan } from './plan.ts';

/** Number of files that a run may delete without approval. */
export interface DeleteLimits {
  readonly files: number;
  /** Share of the files at the destination. */
  readonly percent: number;
}

/** Number of deletes from which the percentage applies: a few files are always a large share of a small folder. */
const minDeletesForPercent = 5;

/** Reason why a plan needs approval. It is stored, and its text is made for each reader. */
export const ApprovalReason = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('empty_source'), count: z.number() }),
  z.object({ kind: z.literal('count'), count: z.number(), limit: z.number() }),
  z.object({ kind: z.literal('percent'), percent: z.number(), limit: z.number() }),
]);
export type ApprovalReason = z.infer<typeof ApprovalReason>;

/** Returns the reasons why a plan needs approval; an empty list if it may run automatically. */
export function getApprovalReasons(plan: Plan, { files, percent }: DeleteLimits): readonly ApprovalReason[] {
  const count = plan.deletes.length - plan.scraps;
  if (count === 0) return [];
  if (plan.sourceFiles === 0) return [{ kind: 'empty_source', count }];
  const reasons: ApprovalReason[] = [];
  if (count > files) reasons.push({ kind: 'count', count, limit: files });
  const share = (100 * count) / Math.max(1, plan.destinationFiles - plan.scraps);
  if (count >= minDeletesForPercent && share > percent) {
    reasons.push({ kind: 'percent', percent: Math.round(share), limit: percent });
  }
  return reasons;
}

/** Returns a reason in the current language. */
export function explainApprovalReason(reason: ApprovalReason): string {
  if (reason.kind === 'empty_source') return m.heldEmptySource(reason);
  return reason.kind === 'count' ? m.heldCount(reason) : m.heldPercent(reason);
}

/** Returns a reason in English for clients of rclone's API. */
export function formatApprovalReason(reason: ApprovalReason): string {
  switch (reason.kind) {
    case 'empty_source':
      return `The source is empty, and ${formatFileCount(reason.count)} at the destination would be deleted.`;
    case 'count':
      return `It would delete ${formatFileCount(reason.count)}; ${String(reason.limit)} are allowed.`;
    case 'percent':
      return `It would delete ${String(reason.percent)} % of the destination; ${String(reason.limit)} % are allowed.`;
  }
}

function formatFileCount(count: number): string {
  return count === 1 ? '1 file' : `${String(count)} files`;
}
