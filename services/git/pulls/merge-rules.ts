import { GiteaProblem } from '../domain/page-problem.ts';
import * as m from '#messages/git-problems';
import type { GitMergeHurdle } from '../../contracts/git/issues.ts';
import { Problem } from '../../contracts/problem.ts';
import { compileGlob } from '../domain/glob.ts';
import { isBlocked } from '../issues/dependencies.ts';
import type { Issue } from '../issues/issues.ts';
import { parseProtectionOptions, type ProtectionOptions, type Protections } from '../protection/protections.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Db } from '../store/tables.ts';
import type { Statuses, StatusState } from '../statuses/statuses.ts';
import type { PullRow, ReviewRow } from '../store/issue-tables.ts';
import type { PullState } from './pulls.ts';

type ComparedPull = Pick<PullState, 'head' | 'comparison'>;

/** Result of the branch protection for a pull request. */
export interface MergeBlockers {
  /** Number of valid approvals. */
  readonly approvals: number;
  /** Number of required approvals. */
  readonly required: number;
  readonly hurdles: readonly GitMergeHurdle[];
  /** Administrators may merge despite the hurdles. */
  readonly mayForce: boolean;
}

/** Gitea's message for each hurdle, for programs. */
const messages: Readonly<Record<GitMergeHurdle, string>> = {
  open_dependencies: 'It depends on issues that are still open',
  checks_not_passed: 'Not all required status checks successful',
  missing_approvals: 'Does not have enough approvals',
  requested_changes: 'There are requested changes',
  pending_review_requests: 'There are official review requests',
  outdated_branch: 'The head branch is behind the base branch',
};
const noBlockers: MergeBlockers = { approvals: 0, required: 0, hurdles: [], mayForce: true };

export interface MergeRuleDependencies {
  readonly db: Db;
  readonly protections: Protections;
  readonly statuses: Statuses;
  /** Returns true if an account may write to a repository. */
  readonly mayWrite: (repository: Repository, account: string) => Promise<boolean>;
}

/** Applies the branch protection to merges. */
export class MergeRules {
  readonly #dependencies: MergeRuleDependencies;

  constructor(deps: MergeRuleDependencies) {
    this.#dependencies = deps;
  }

  /** Returns the hurdles that prevent a merge by any account. */
  async getBlockers(
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    state: ComparedPull,
  ): Promise<MergeBlockers> {
    const options = await this.#options(repository, issue);
    const blockers = options === undefined ? noBlockers : await this.#evaluate(options, repository, issue, state);
    const isWaiting = await isBlocked(this.#dependencies.db, issue.id);
    return isWaiting ? { ...blockers, hurdles: ['open_dependencies', ...blockers.hurdles], mayForce: false } : blockers;
  }

  /**
   * Checks that an account may merge.
   * @throws Problem `git.not_allowed`, `git.not_ready` (405)
   */
  async check(
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    state: ComparedPull,
    { account, force = false }: { readonly account: string; readonly force?: boolean | undefined },
  ): Promise<void> {
    if (await isBlocked(this.#dependencies.db, issue.id)) throw createNotReadyProblem('open_dependencies');
    const options = await this.#options(repository, issue);
    if (options === undefined) return;
    if (!mayMerge(options, account)) throw new Problem('git.not_allowed', 405, 'User not allowed to merge PR');
    const { mayForce, hurdles } = await this.#evaluate(options, repository, issue, state);
    const [first] = hurdles;
    if (first === undefined || (force && mayForce)) return;
    throw createNotReadyProblem(first);
  }

  /** Returns true if the branch protection allows the account to merge. */
  async allows(
    repository: Repository,
    issue: Issue & { readonly request: PullRow },
    account: string,
  ): Promise<boolean> {
    const options = await this.#options(repository, issue);
    return options === undefined || mayMerge(options, account);
  }

  async #options(
    { id }: Repository,
    { request }: { readonly request: PullRow },
  ): Promise<ProtectionOptions | undefined> {
    const rule = await this.#dependencies.protections.findRule(id, request.base_branch);
    return rule === undefined ? undefined : parseProtectionOptions(rule);
  }

  async #evaluate(
    options: ProtectionOptions,
    repository: Repository,
    issue: Issue,
    { comparison, head }: ComparedPull,
  ): Promise<MergeBlockers> {
    const { db, statuses } = this.#dependencies;
    const reviews = await db
      .selectFrom('reviews')
      .selectAll()
      .where('issue_id', '=', issue.id)
      .where('dismissed', '=', 0)
      .where('official', '=', 1)
      .execute();
    const approvals = reviews.filter((review) => isApproval(options, review, head)).length;
    const hasPendingRequests =
      options.block_on_official_review_requests && (await this.#hasPendingRequest(options, repository, issue));
    const { required_approvals: required } = options;
    const isRejected = reviews.some(({ state }) => state === 'REQUEST_CHANGES');
    const latest = options.enable_status_check ? await statuses.latest(repository.id, head) : [];
    const checksPassed = !options.enable_status_check || areChecksPassing(options.status_check_contexts, latest);
    const hurdles: GitMergeHurdle[] = [];
    if (!checksPassed) hurdles.push('checks_not_passed');
    if (approvals < required) hurdles.push('missing_approvals');
    if (options.block_on_rejected_reviews && isRejected) hurdles.push('requested_changes');
    if (hasPendingRequests) hurdles.push('pending_review_requests');
    if (options.block_on_outdated_branch && comparison.behind > 0) hurdles.push('outdated_branch');
    return { approvals, required, hurdles, mayForce: !options.block_admin_merge_override };
  }

  /** Returns true if a review of an account with write access was requested and is pending. */
  async #hasPendingRequest(options: ProtectionOptions, repository: Repository, issue: Issue): Promise<boolean> {
    const { db, mayWrite } = this.#dependencies;
    const rows = await db.selectFrom('review_requests').select('account').where('issue_id', '=', issue.id).execute();
    const { approvals_whitelist_username: list } = options;
    if (options.enable_approvals_whitelist) return rows.some(({ account }) => list.includes(account));
    const writers = await Promise.all(rows.map(({ account }) => mayWrite(repository, account)));
    return writers.includes(true);
  }
}

function createNotReadyProblem(hurdle: GitMergeHurdle): Problem {
  return new GiteaProblem(
    'git.not_ready',
    405,
    `not ready to merge [reason: ${messages[hurdle]}]`,
    m.notReadyToMerge({ hurdle }),
  );
}

function mayMerge(options: ProtectionOptions, account: string): boolean {
  return !options.enable_merge_whitelist || options.merge_whitelist_usernames.includes(account);
}

function isApproval(options: ProtectionOptions, { author, commit_id, state }: ReviewRow, head: string): boolean {
  if (state !== 'APPROVED') return false;
  if (options.enable_approvals_whitelist && !options.approvals_whitelist_username.includes(author)) return false;
  // Dismissal only applies to pushes to an open pull request while the rule exists.
  return !(options.ignore_stale_approvals || options.dismiss_stale_approvals) || commit_id === head;
}

/**
 * Returns true if every required check, given by name or pattern, was successful. Without names, all reported checks
 * must be successful.
 */
function areChecksPassing(
  requiredContexts: readonly string[],
  latest: readonly { readonly context: string; readonly state: StatusState }[],
): boolean {
  const isSuccessful = ({ state }: { readonly state: StatusState }): boolean =>
    state === 'success' || state === 'skipped';
  if (requiredContexts.length === 0) return latest.length > 0 && latest.every(isSuccessful);
  return requiredContexts.every((name) => {
    const matching = latest.filter(
      ({ context }) => context === name || compileGlob(name, { bySegment: false })?.test(context) === true,
    );
    return matching.length > 0 && matching.every(isSuccessful);
  });
}
