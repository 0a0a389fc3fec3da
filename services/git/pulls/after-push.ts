import { findReferences } from '../domain/issue-text.ts';
import { setClosed } from '../issues/changes.ts';
import { recordForeignReferences } from '../issues/foreign-references.ts';
import { addEntry, notifyParticipants, touch, type IssueWork } from '../issues/writer.ts';
import { parseProtectionOptions, type Protections } from '../protection/protections.ts';
import { readLog, type Commit } from '../repositories/commits.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { IssueRow } from '../store/issue-tables.ts';
import { zeroId, type RefChange } from '../domain/ref-change.ts';
import type { PushPreparation } from '../transfer/pushes.ts';
import type { RepositoryStorage } from '../repositories/storage.ts';
import type { PullServiceDependencies, Pulls } from './pulls.ts';

const branchPrefix = 'refs/heads/';
/** Maximum number of commits of a push that are searched for issue references and listed in a timeline. */
const maxCommits = 500;

interface HeadUpdate {
  readonly issue: number;
  readonly number: number;
  readonly after: string;
  readonly forced: boolean;
  readonly commits: readonly string[];
  /** Approvals of the previous head are dismissed because of the branch protection. */
  readonly dismisses: boolean;
}

/**
 * Applies a push to issues and pull requests: updates the head of pull requests, records merges, and adds references to
 * issues or closes them. Data from git is read first; all rows change in the transaction of the push.
 */
export function createIssueUpdates(
  deps: PullServiceDependencies & { readonly protections: Protections; readonly pulls: Pulls },
): PushPreparation {
  const { protections, pulls, writer } = deps;
  const { db, folder, git, repositories } = deps.storage;

  const updateHeads = async (repository: Repository, change: RefChange): Promise<readonly HeadUpdate[]> => {
    const branch = change.ref.slice(branchPrefix.length);
    const updates: HeadUpdate[] = [];
    // Pushes of several hosts can be recorded in another order than git made them. The latest one updates the heads.
    if ((await pulls.findBranch(repository, branch)) !== change.after) return updates;
    const openPulls = await findPullsFromBranch(db, repository, branch);
    for (const { id, number, repository_id, head_commit, base_branch } of openPulls) {
      const base = repository_id === repository.id ? repository : await repositories.findById(repository_id);
      if (base === undefined) continue;
      await pulls.updateHead(base, number, { repository, branch, commit: change.after });
      const baseFolder = folder(base);
      const addedCommits = await readLog(git, baseFolder, {
        from: [change.after],
        exclude: [head_commit],
        limit: maxCommits,
      });
      const removedCommits = await readLog(git, baseFolder, { from: [head_commit], exclude: [change.after], limit: 1 });
      const rule = await protections.findRule(base.id, base_branch);
      updates.push({
        issue: id,
        number,
        after: change.after,
        forced: removedCommits.length > 0,
        commits: addedCommits.map((commit) => commit.id).toReversed(),
        dismisses: rule !== undefined && parseProtectionOptions(rule).dismiss_stale_approvals,
      });
    }
    return updates;
  };

  return async ({ repository, account, changes, id }) => {
    const branches = changes.filter(({ ref }) => ref.startsWith(branchPrefix));
    const updatedBranches = branches.filter(({ after }) => after !== zeroId);
    const deletedBranches = await listDeletedBranches(pulls, repository, branches);
    const updates = (await Promise.all(updatedBranches.map((change) => updateHeads(repository, change)))).flat();
    const pushedCommits: { readonly commit: Commit; readonly closes: boolean }[] = [];
    for (const { ref, before, after } of updatedBranches) {
      const closes = ref === branchPrefix + repository.defaultBranch;
      // The commits of a new branch may have been pushed to another branch before.
      if (before === zeroId && !closes) continue;
      const query = { from: [after], exclude: before === zeroId ? [] : [before], limit: maxCommits };
      const commits = (await readLog(git, folder(repository), query)).toReversed();
      pushedCommits.push(...commits.map((commit) => ({ commit, closes })));
    }
    return async (transaction) => {
      await writer.within(transaction, repository, account, async (work) => {
        await recordMerge(work, id);
        for (const each of updates) await recordHeadUpdate(work, each);
        for (const branch of deletedBranches) await closePullsOfBranch(work, branch);
        for (const { commit, closes } of pushedCommits) await recordReferences(work, commit, closes);
      });
    };
  };
}

/** Lists the branches that a push deleted, except those that a later push has created again. */
async function listDeletedBranches(
  pulls: Pick<Pulls, 'findBranch'>,
  repository: Repository,
  changes: readonly RefChange[],
): Promise<readonly string[]> {
  const branches: string[] = [];
  for (const { ref, after } of changes) {
    const branch = ref.slice(branchPrefix.length);
    const isDeleted = after === zeroId && (await pulls.findBranch(repository, branch)) === undefined;
    if (isDeleted) branches.push(branch);
  }
  return branches;
}

/** Finds open pull requests from a branch. */
function findPullsFromBranch(db: RepositoryStorage['db'], repository: Repository, branch: string) {
  return db
    .selectFrom('pulls')
    .innerJoin('issues', 'issues.id', 'pulls.issue_id')
    .select(['issues.id', 'issues.number', 'issues.repository_id', 'pulls.head_commit', 'pulls.base_branch'])
    .where('issues.closed', '=', 0)
    .where('pulls.head_repository_id', '=', repository.id)
    .where('pulls.head_branch', '=', branch)
    .execute();
}

/** Records a merge if the push belongs to one, and closes the issues that the pull request fixes. */
async function recordMerge(work: IssueWork, push: string): Promise<void> {
  const { account, db, now, repository } = work;
  const merge = await db.deleteFrom('pull_merges').where('push_id', '=', push).returningAll().executeTakeFirst();
  if (merge === undefined) return;
  const issue = await db.selectFrom('issues').selectAll().where('id', '=', merge.issue_id).executeTakeFirst();
  if (issue === undefined) return;
  await db
    .updateTable('pulls')
    .set({ merged_commit: merge.commit, merged_at: now, merged_by: account })
    .where('issue_id', '=', issue.id)
    .execute();
  await db
    .updateTable('issues')
    .set({ closed: 1, closed_at: now, updated_at: now })
    .where('id', '=', issue.id)
    .execute();
  const entry = await addEntry(work, issue.id, 'merge_pull', { commit: merge.commit });
  await notifyParticipants(work, issue.id, entry);
  work.events.push({ event: 'pull_request', action: 'closed', issue: issue.id });
  const pull = await db.selectFrom('pulls').select('base_branch').where('issue_id', '=', issue.id).executeTakeFirst();
  if (pull?.base_branch !== repository.defaultBranch) return;
  for (const { action, number } of findReferences(
    `${issue.title}\n${issue.body}`,
    `${repository.owner}/${repository.name}`,
  )) {
    const referenced = action === 'none' ? undefined : await findIssue(work, number);
    if (referenced?.pull === 0) await setClosed(work, referenced, action === 'close', merge.commit);
  }
}

async function recordHeadUpdate(
  work: IssueWork,
  { issue, after, forced, commits, dismisses }: HeadUpdate,
): Promise<void> {
  await work.db.updateTable('pulls').set({ head_commit: after }).where('issue_id', '=', issue).execute();
  if (dismisses) {
    const stale = work.db.updateTable('reviews').set({ dismissed: 1 }).where('issue_id', '=', issue);
    await stale.where('state', '=', 'APPROVED').where('commit_id', '!=', after).execute();
  }
  const body = JSON.stringify({ is_force_push: forced, commit_ids: commits });
  await addEntry(work, issue, 'pull_push', { body });
  await touch(work, issue);
  work.events.push({ event: 'pull_request_sync', action: 'synchronized', issue });
}

/** Closes the pull requests from or into a deleted branch. */
async function closePullsOfBranch(work: IssueWork, branch: string): Promise<void> {
  const { db, repository } = work;
  const issues = await db
    .selectFrom('issues')
    .innerJoin('pulls', 'pulls.issue_id', 'issues.id')
    .selectAll('issues')
    .where('issues.closed', '=', 0)
    .where((is) =>
      is.or([
        is.and([is('pulls.head_repository_id', '=', repository.id), is('pulls.head_branch', '=', branch)]),
        is.and([is('issues.repository_id', '=', repository.id), is('pulls.base_branch', '=', branch)]),
      ]),
    )
    .execute();
  for (const issue of issues) {
    await addEntry(work, issue.id, 'delete_branch', { before: branch });
    await setClosed(work, issue, true);
  }
}

async function recordReferences(work: IssueWork, commit: Commit, closes: boolean): Promise<void> {
  const { db, repository } = work;
  const title = commit.message.split('\n', 1)[0] ?? '';
  await recordForeignReferences(work, 'commit_ref', commit.message, { commit: commit.id, body: title });
  for (const { action, number } of findReferences(commit.message, `${repository.owner}/${repository.name}`)) {
    const issue = await findIssue(work, number);
    if (issue === undefined || (issue.pull === 1 && (await isMergeCommit(work, issue.id, commit.id)))) continue;
    const existing = await db
      .selectFrom('issue_entries')
      .select('id')
      .where('issue_id', '=', issue.id)
      .where('kind', '=', 'commit_ref')
      .where('details', '=', JSON.stringify({ commit: commit.id }))
      .executeTakeFirst();
    if (existing === undefined) await addEntry(work, issue.id, 'commit_ref', { commit: commit.id, body: title });
    if (closes && action !== 'none' && issue.pull === 0) await setClosed(work, issue, action === 'close', commit.id);
  }
}

function findIssue({ db, repository }: IssueWork, number: number): Promise<IssueRow | undefined> {
  return db
    .selectFrom('issues')
    .selectAll()
    .where('repository_id', '=', repository.id)
    .where('number', '=', number)
    .executeTakeFirst();
}

/** Returns true if the commit merged the pull request. Its timeline already contains the merge. */
async function isMergeCommit({ db }: IssueWork, issue: number, commit: string): Promise<boolean> {
  const row = await db.selectFrom('pulls').select('merged_commit').where('issue_id', '=', issue).executeTakeFirst();
  return row?.merged_commit === commit;
}
