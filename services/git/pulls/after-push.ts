import { referencesIn } from '../domain/issue-text.ts';
import { setClosed } from '../issues/changes.ts';
import { addEntry, tell, touch, type IssueWork } from '../issues/writer.ts';
import { optionsOf, type Protections } from '../protection/protections.ts';
import { readLog, type Commit } from '../repositories/commits.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { IssueRow } from '../store/issue-tables.ts';
import { noObject, type RefChange } from '../transfer/push-request.ts';
import type { PushPreparation } from '../transfer/pushes.ts';
import type { PullServiceDependencies, Pulls } from './pulls.ts';

const heads = 'refs/heads/';
/** Maximum number of commits of a push that are searched for issue references and listed in a timeline. */
const mostRead = 500;

interface Moved {
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
export function issuesAfterPush(
  deps: PullServiceDependencies & { readonly protections: Protections; readonly pulls: Pulls },
): PushPreparation {
  const { db, folder, git, protections, pulls, repositories, writer } = deps;

  /** Finds open pull requests from a branch. */
  const fromBranch = (repository: Repository, branch: string) =>
    db
      .selectFrom('pulls')
      .innerJoin('issues', 'issues.id', 'pulls.issue_id')
      .select(['issues.id', 'issues.number', 'issues.repository_id', 'pulls.head_commit', 'pulls.base_branch'])
      .where('issues.closed', '=', 0)
      .where('pulls.head_repository_id', '=', repository.id)
      .where('pulls.head_branch', '=', branch)
      .execute();
  const follow = async (repository: Repository, change: RefChange): Promise<readonly Moved[]> => {
    const branch = change.ref.slice(heads.length);
    const moved: Moved[] = [];
    for (const { id, number, repository_id, head_commit, base_branch } of await fromBranch(repository, branch)) {
      const base = repository_id === repository.id ? repository : await repositories.byId(repository_id);
      if (base === undefined) continue;
      await pulls.follow(base, number, { repository, branch, commit: change.after });
      const place = folder(base);
      const added = await readLog(git, place, { from: [change.after], not: [head_commit], limit: mostRead });
      const lost = await readLog(git, place, { from: [head_commit], not: [change.after], limit: 1 });
      const rule = await protections.of(base.id, base_branch);
      moved.push({
        issue: id,
        number,
        after: change.after,
        forced: lost.length > 0,
        commits: added.map((commit) => commit.id).toReversed(),
        dismisses: rule !== undefined && optionsOf(rule).dismiss_stale_approvals,
      });
    }
    return moved;
  };

  return async ({ repository, account, changes, id }) => {
    const branches = changes.filter(({ ref }) => ref.startsWith(heads));
    const written = branches.filter(({ after }) => after !== noObject);
    const gone = branches.flatMap(({ ref, after }) => (after === noObject ? [ref.slice(heads.length)] : []));
    const moved = (await Promise.all(written.map((change) => follow(repository, change)))).flat();
    const said: { readonly commit: Commit; readonly closes: boolean }[] = [];
    for (const { ref, before, after } of written) {
      const closes = ref === heads + repository.defaultBranch;
      // The commits of a new branch may have been pushed to another branch before.
      if (before === noObject && !closes) continue;
      const query = { from: [after], not: before === noObject ? [] : [before], limit: mostRead };
      const commits = (await readLog(git, folder(repository), query)).toReversed();
      said.push(...commits.map((commit) => ({ commit, closes })));
    }
    return async (transaction) => {
      await writer.within(transaction, repository, account, async (work) => {
        await recordMerge(work, id);
        for (const each of moved) await recordMove(work, each);
        for (const branch of gone) await closeFor(work, branch);
        for (const { commit, closes } of said) await recordReferences(work, commit, closes);
      });
    };
  };
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
  await tell(work, issue.id, entry);
  work.events.push({ event: 'pull_request', action: 'closed', issue: issue.id });
  const pull = await db.selectFrom('pulls').select('base_branch').where('issue_id', '=', issue.id).executeTakeFirst();
  if (pull?.base_branch !== repository.defaultBranch) return;
  for (const { action, number } of referencesIn(
    `${issue.title}\n${issue.body}`,
    `${repository.owner}/${repository.name}`,
  )) {
    const named = action === 'none' ? undefined : await issueNumbered(work, number);
    if (named?.pull === 0) await setClosed(work, named, action === 'close', merge.commit);
  }
}

async function recordMove(work: IssueWork, { issue, after, forced, commits, dismisses }: Moved): Promise<void> {
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
async function closeFor(work: IssueWork, branch: string): Promise<void> {
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
  for (const { action, number } of referencesIn(commit.message, `${repository.owner}/${repository.name}`)) {
    const issue = await issueNumbered(work, number);
    if (issue === undefined || (issue.pull === 1 && (await isMergeOf(work, issue.id, commit.id)))) continue;
    const known = await db
      .selectFrom('issue_entries')
      .select('id')
      .where('issue_id', '=', issue.id)
      .where('kind', '=', 'commit_ref')
      .where('details', '=', JSON.stringify({ commit: commit.id }))
      .executeTakeFirst();
    const title = commit.message.split('\n', 1)[0] ?? '';
    if (known === undefined) await addEntry(work, issue.id, 'commit_ref', { commit: commit.id, body: title });
    if (closes && action !== 'none' && issue.pull === 0) await setClosed(work, issue, action === 'close', commit.id);
  }
}

function issueNumbered({ db, repository }: IssueWork, number: number): Promise<IssueRow | undefined> {
  return db
    .selectFrom('issues')
    .selectAll()
    .where('repository_id', '=', repository.id)
    .where('number', '=', number)
    .executeTakeFirst();
}

/** Returns true if the commit merged the pull request. Its timeline already contains the merge. */
async function isMergeOf({ db }: IssueWork, issue: number, commit: string): Promise<boolean> {
  const row = await db.selectFrom('pulls').select('merged_commit').where('issue_id', '=', issue).executeTakeFirst();
  return row?.merged_commit === commit;
}
