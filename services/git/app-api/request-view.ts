import type { GitPull } from '../../contracts/git/issues.ts';
import type { Issue } from '../issues/issues.ts';
import { getAllowedStyles } from '../pulls/merge.ts';
import type { IssueContext } from '../gitea-api/issues/issue-access.ts';
import type { PullDependencies } from '../gitea-api/pulls/pull-views.ts';
import type { PullRow } from '../store/issue-tables.ts';

/** Builds the part of a pull request that issues lack: branches, comparison and requirements of a merge. */
export async function requestView(
  { db, pulls, rules, statuses }: PullDependencies,
  { issue, level, repository }: IssueContext & { readonly issue: Issue & { readonly request: PullRow } },
  account: string,
): Promise<GitPull> {
  const state = await pulls.state(repository, issue);
  const { head, headRepository } = state;
  const { ahead, behind, conflicts, files, mergeBase } = state.comparison;
  const { request } = issue;
  const [hurdles, mayMerge, reviews, reviewers, checks] = await Promise.all([
    rules.getBlockers(repository, issue, state),
    rules.allows(repository, issue, account),
    db
      .selectFrom('reviews')
      .selectAll()
      .where('issue_id', '=', issue.id)
      .where('dismissed', '=', 0)
      .orderBy('id')
      .execute(),
    db.selectFrom('review_requests').select('account').where('issue_id', '=', issue.id).execute(),
    statuses.latest(repository.id, head),
  ]);
  const last = new Map<string, GitPull['verdicts'][number]>();
  for (const { author, commit_id, state: verdict } of reviews) {
    if (verdict === 'APPROVED' || verdict === 'REQUEST_CHANGES')
      last.set(author, { account: author, verdict, stale: commit_id !== head });
  }
  const from =
    headRepository === undefined || headRepository.id === repository.id
      ? ''
      : `${headRepository.owner}/${headRepository.name}:`;
  return {
    head: from + request.head_branch,
    base: request.base_branch,
    headThere: state.hasHead,
    commits: ahead,
    behind,
    files: files.length,
    mergeable: state.mergeable,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    conflicts: mergeBase === undefined ? [] : conflicts === undefined ? null : [...conflicts],
    styles: [...getAllowedStyles(repository)],
    mergedBy: request.merged_by,
    mergedAt: request.merged_at,
    mergedCommit: request.merged_commit,
    reviewers: reviewers.map((each) => each.account),
    verdicts: [...last.values()],
    approvals: hurdles.approvals,
    approvalsWanted: hurdles.required,
    hurdles: [...hurdles.reasons],
    mayMerge,
    mayForce: hurdles.mayForce && level === 'admin',
    checks: checks.map(({ context, description, state: went, target_url: url }) => ({
      context,
      description,
      state: went,
      url: /^https?:\/\//.test(url) ? url : '',
    })),
  };
}
