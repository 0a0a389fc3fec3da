import type { GitPull } from '../../contracts/git/issues.ts';
import type { Issue } from '../issues/issues.ts';
import { getAllowedStyles } from '../pulls/merge.ts';
import type { PullState } from '../pulls/pulls.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { IssueContext } from '../gitea-api/issues/issue-access.ts';
import type { PullRow, ReviewRow } from '../store/issue-tables.ts';
import type { StatusRow } from '../store/statuses.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = Pick<RouteDependencies, 'storage' | 'collaboration'>;

/** Builds the part of a pull request that issues lack: branches, comparison and requirements of a merge. */
export async function requestView(
  { storage: { db }, collaboration: { pulls, rules, statuses } }: Dependencies,
  { issue, level, repository }: IssueContext & { readonly issue: Issue & { readonly request: PullRow } },
  account: string,
): Promise<GitPull> {
  const state = await pulls.state(repository, issue);
  const { head } = state;
  const { ahead, behind, conflicts, files, mergeBase } = state.comparison;
  const { request } = issue;
  const [blockers, mayMerge, reviews, reviewers, checks] = await Promise.all([
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
  return {
    head: formatHeadBranch(state, request, repository),
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
    verdicts: listVerdicts(reviews, head),
    approvals: blockers.approvals,
    approvalsWanted: blockers.required,
    hurdles: [...blockers.hurdles],
    mayMerge,
    mayForce: blockers.mayForce && level === 'admin',
    checks: checks.map(checkView),
  };
}

/** Formats the head branch; the branch of a fork begins with the repository: `owner/name:branch`. */
function formatHeadBranch({ headRepository }: PullState, request: PullRow, repository: Repository): string {
  if (headRepository === undefined || headRepository.id === repository.id) return request.head_branch;
  return `${headRepository.owner}/${headRepository.name}:${request.head_branch}`;
}

/** Returns the last verdict of each reviewer. `reviews` are in the order in which they were created. */
function listVerdicts(reviews: readonly ReviewRow[], head: string): GitPull['verdicts'] {
  const verdicts = new Map<string, GitPull['verdicts'][number]>();
  for (const { author, commit_id, state } of reviews) {
    if (state === 'APPROVED' || state === 'REQUEST_CHANGES')
      verdicts.set(author, { account: author, verdict: state, stale: commit_id !== head });
  }
  return [...verdicts.values()];
}

function checkView({ context, description, state, target_url: url }: StatusRow): GitPull['checks'][number] {
  // Only web addresses become links on the pages.
  return { context, description, state, url: /^https?:\/\//.test(url) ? url : '' };
}
