import type { GitMergeHurdle, GitMergeStyle } from '../../../../../services/contracts/git/issues.ts';

/** Labels of the merge styles. */
export const mergeStyleLabels: Record<GitMergeStyle, string> = {
  merge: 'With a merge commit',
  squash: 'Squashed into one commit',
  rebase: 'Its commits on top of the others',
  'rebase-merge': 'On top of the others, with a merge commit',
  'fast-forward-only': 'Only by moving the branch forward',
};

/** Describes the effect of a merge style, because the names are Git terms. */
export function describeMergeStyle(style: GitMergeStyle, base: string, head: string, count: number): string {
  const commits = formatCommitCount(count);
  const pronoun = count === 1 ? 'it' : 'them';
  return {
    merge: `Adds ${commits} of ${head} to ${base}, and a merge commit that says where ${pronoun} came from.`,
    squash: `${base} gets one commit with all changes of ${head}.`,
    rebase: `Copies ${commits} of ${head} to the end of ${base}, under new numbers.`,
    'rebase-merge':
      `Copies ${commits} of ${head} to the end of ${base}, ` +
      `and adds a merge commit that says where ${pronoun} came from.`,
    'fast-forward-only': `${base} moves on to the last commit of ${head}, as it is.`,
  }[style];
}

export function formatCommitCount(count: number): string {
  return count === 1 ? '1 commit' : `${count} commits`;
}

export function formatApprovalCount(count: number): string {
  return count === 1 ? '1 approval' : `${count} approvals`;
}

/** Messages for hurdles, except for missing approvals, whose message contains their number. */
export const hurdleMessages: Record<Exclude<GitMergeHurdle, 'missing_approvals'>, string> = {
  open_dependencies: 'It depends on issues that are still open.',
  checks_not_passed: 'Required checks have not passed.',
  requested_changes: 'A reviewer requests changes.',
  pending_review_requests: 'A requested review is missing.',
  outdated_branch: 'The branch must be brought up to date first.',
};

/** Labels of check states, shown after the name of the check. */
export const checkStateLabels: Record<string, string> = {
  pending: 'runs',
  success: 'went well',
  error: 'could not run',
  failure: 'failed',
  warning: 'warns',
  skipped: 'was left out',
};
