import * as m from '#messages/git-issues';
import type { RichMessage } from '../../../../../messages/runtime.ts';
import type { GitMergeHurdle, GitMergeStyle, GitPull } from '../../../../../services/contracts/git/issues.ts';

/** Labels of the merge styles. */
export const mergeStyleLabels: Record<GitMergeStyle, () => string> = {
  merge: m.withAMergeCommit,
  squash: m.squashedIntoOneCommit,
  rebase: m.rebased,
  'rebase-merge': m.rebasedWithMergeCommit,
  'fast-forward-only': m.fastForward,
};

/** Describes the effect of a merge style, because the names are Git terms. */
export function describeMergeStyle(style: GitMergeStyle, base: string, head: string, count: number): string {
  return {
    merge: m.mergeEffect,
    squash: m.squashEffect,
    rebase: m.rebaseEffect,
    'rebase-merge': m.rebaseMergeEffect,
    'fast-forward-only': m.fastForwardEffect,
  }[style]({ count, base, head });
}

/** Messages for hurdles, except for missing approvals, whose message contains their number. */
export const hurdleMessages: Record<Exclude<GitMergeHurdle, 'missing_approvals'>, () => string> = {
  open_dependencies: m.openDependencies,
  checks_not_passed: m.checksNotPassed,
  requested_changes: m.changesRequested,
  pending_review_requests: m.reviewMissing,
  outdated_branch: m.branchOutdated,
};

/** Sentences about check states; the tag `check` shows the name of the check. */
const checkStateFormats: Record<string, (values: { readonly name: string }) => RichMessage> = {
  pending: m.checkRunning,
  success: m.checkSucceeded,
  error: m.checkNotRun,
  failure: m.checkFailed,
  warning: m.checkWarns,
  skipped: m.checkSkipped,
};

/** Formats the state of a check; an unknown state stays unchanged. */
export function formatCheck({ context, state, description }: GitPull['checks'][number]): RichMessage {
  const sentence = checkStateFormats[state]?.({ name: context }) ?? m.checkOfState({ name: context, state });
  if (description === '') return sentence;
  const { parts } = m.checkWithDescription({ description });
  return {
    parts: parts.flatMap((part) => (typeof part === 'object' && part.tag === 'sentence' ? sentence.parts : part)),
  };
}
