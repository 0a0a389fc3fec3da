import type { GitMergeStyle } from '../../../../../services/contracts/git/issues.ts';

/** The ways to merge, as they are chosen from. */
export const styleWords: Record<GitMergeStyle, string> = {
  merge: 'With a merge commit',
  squash: 'Squashed into one commit',
  rebase: 'Its commits on top of the others',
  'rebase-merge': 'On top of the others, with a merge commit',
  'fast-forward-only': 'Only by moving the branch forward',
};

/** What a way does, since the names of the ways are those of Git. */
export function effectOf(style: GitMergeStyle, base: string, head: string, count: number): string {
  const commits = commitsOf(count);
  const them = count === 1 ? 'it' : 'them';
  return {
    merge: `Adds ${commits} of ${head} to ${base}, and a merge commit that says where ${them} came from.`,
    squash: `${base} gets one commit with all changes of ${head}.`,
    rebase: `Copies ${commits} of ${head} to the end of ${base}, under new numbers.`,
    'rebase-merge': `Copies ${commits} of ${head} to the end of ${base}, and adds a merge commit that says where ${them} came from.`,
    'fast-forward-only': `${base} moves on to the last commit of ${head}, as it is.`,
  }[style];
}

/** A number of commits in words. */
export function commitsOf(count: number): string {
  return count === 1 ? '1 commit' : `${count} commits`;
}

/** A number of approvals in words. */
export function approvalsOf(count: number): string {
  return count === 1 ? '1 approval' : `${count} approvals`;
}

/** Gitea's name of what stands against a merge where only approvals do. */
export const lacksApprovals = 'Does not have enough approvals';

/** What else stands against a merge, by Gitea's names for it. */
export const hurdleWords: Record<string, string> = {
  'Not all required status checks successful': 'Checks that must go well have not.',
  'There are requested changes': 'Somebody asks for changes.',
  'There are official review requests': 'A review that was asked for is missing.',
  'The head branch is behind the base branch': 'The branch must be brought up to date first.',
};

/** The states of a check, after its name. */
export const checkWords: Record<string, string> = {
  pending: 'runs',
  success: 'went well',
  error: 'could not run',
  failure: 'failed',
  warning: 'warns',
  skipped: 'was left out',
};
