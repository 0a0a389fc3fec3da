import * as m from '#messages/git-problems';
import { Problem } from '../../../contracts/problem.ts';
import { GiteaProblem, PageProblem } from '../../domain/page-problem.ts';
import type { Issue } from '../../issues/issues.ts';
import { isVisibleTo } from '../../issues/entry-visibility.ts';
import { levels, type Level } from '../../repositories/access.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import { getAccount, type Call } from '../call.ts';
import { parseId } from '../paging.ts';
import { getRepositoryName } from '../repository-requests.ts';
import type { AccessControl, RouteDependencies } from '../../components.ts';
import type { RepositoryStorage } from '../../repositories/storage.ts';

/** Repository of a request for issues, with the access level of the caller. */
export interface IssueContext {
  readonly repository: Repository;
  readonly level: Level;
}

/**
 * Returns the repository of a call. Scopes of code do not apply, because the route checked the scope of issues.
 *
 * @throws Problem (404)
 */
export async function getIssueRepository(
  { lookup }: Pick<AccessControl, 'lookup'>,
  { caller, ...call }: Pick<Call, 'caller' | 'params'>,
): Promise<IssueContext> {
  const [owner, name] = getRepositoryName(call);
  const result = await lookup.find(
    { ...caller, scopes: caller.scopes?.includes('public-only') === true ? ['public-only', 'all'] : undefined },
    owner,
    name,
  );
  if (result === undefined) throw buildNotFoundProblem();
  return result;
}

/** @throws Problem (403) without write access, (423) for an archived repository */
export function requireWrite({ level, repository }: IssueContext): void {
  if (!mayWrite(level)) throw new PageProblem('git.forbidden', 403, m.repositoryActionDenied());
  requireNotArchived(repository);
}

/** @throws Problem (423) for an archived repository */
export function requireNotArchived({ archived, owner, name }: Repository): void {
  if (archived) throw new Problem('git.archived', 423, `${owner}/${name} is archived`);
}

export function mayWrite(level: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf('write');
}

/** Returns the issue or pull request of a call. @throws Problem (404) */
export async function getIssue(
  deps: Pick<RouteDependencies, 'accessControl' | 'collaboration'>,
  call: Pick<Call, 'caller' | 'params'>,
): Promise<IssueContext & { readonly issue: Issue }> {
  const result = await getIssueRepository(deps.accessControl, call);
  const issue = await deps.collaboration.issues.find(result.repository.id, parseId(call.params['index']));
  if (issue === undefined) throw buildNotFoundProblem();
  return { ...result, issue };
}

/** Finds a timeline entry that is visible to the caller. */
export function findVisibleEntry({ db }: Pick<RepositoryStorage, 'db'>, { caller }: Pick<Call, 'caller'>, id: number) {
  return db
    .selectFrom('issue_entries')
    .selectAll()
    .where('id', '=', id)
    .where(isVisibleTo(caller.identity?.account))
    .executeTakeFirst();
}

/** Returns the comment of a call. @throws Problem (404) */
export async function getComment(
  deps: Pick<RouteDependencies, 'storage' | 'accessControl' | 'collaboration'>,
  call: Pick<Call, 'caller' | 'params'>,
) {
  const target = await getIssueRepository(deps.accessControl, call);
  const entry = await findVisibleEntry(deps.storage, call, parseId(call.params['id']));
  const issue = entry === undefined ? undefined : await deps.collaboration.issues.findById(entry.issue_id);
  if (entry === undefined || issue?.repository_id !== target.repository.id) throw buildNotFoundProblem();
  if (entry.kind !== 'comment' && entry.kind !== 'review' && entry.kind !== 'code') throw buildNotFoundProblem();
  return { ...target, entry, issue };
}

/** @throws Problem (403) unless the caller is the author or may write to the repository */
export function requireAuthor(
  call: Call,
  { level, issue, repository }: IssueContext & { readonly issue: Issue },
): void {
  if (issue.author !== getAccount(call)) requireWrite({ level, repository });
  requireNotArchived(repository);
}

/**
 * Resolves account names in their stored letter case. Empty names, which some clients send, are skipped.
 *
 * @throws Problem (422) for an unknown account
 */
export async function resolveAccounts(
  { context }: Pick<RouteDependencies, 'context'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const accounts = await context.accounts.list();
  return names
    .filter((name) => name !== '')
    .map((name) => {
      const result = accounts.find((account) => account.name.toLowerCase() === name.toLowerCase());
      if (result === undefined || result.name === '*') {
        throw new GiteaProblem(
          'git.invalid',
          422,
          `Assignee does not exist: [name: ${name}]`,
          m.assigneeNotFound({ name }),
        );
      }
      return result.name;
    });
}

/** Parses a time of a request. @throws Problem (422) */
export function parseTime(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new Problem('git.invalid', 422, `parsing time ${JSON.stringify(text)} failed`);
  return time;
}
