import type { Kysely } from 'kysely';
import { Problem } from '../../../contracts/problem.ts';
import { PageProblem } from '../../domain/page-problem.ts';
import type { Context } from '../../../contracts/service.ts';
import type { Issue, Issues } from '../../issues/issues.ts';
import { seenBy } from '../../issues/entry-visibility.ts';
import type { IssueWriter } from '../../issues/writer.ts';
import { levels, type Level } from '../../repositories/access.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { Tables } from '../../store/tables.ts';
import type { Person } from '../../wire/issues.ts';
import { userOf } from '../../wire/users.ts';
import { accountOf, type Call } from '../call.ts';
import { numberOf } from '../paging.ts';
import { named, type RestParts } from '../api-dependencies.ts';

/** What the routes of issues stand on besides those of repositories. */
export interface IssueParts extends RestParts {
  readonly db: Kysely<Tables>;
  readonly issues: Issues;
  readonly writer: IssueWriter;
}

/** A repository whose issues somebody asks for. */
export interface IssuePlace {
  readonly repository: Repository;
  readonly level: Level;
}

/** The repository of a call. What the token is good for was asked by the route: issues are no part of the code. @throws Problem (404) */
export async function repositoryAt(
  { lookup }: Pick<IssueParts, 'lookup'>,
  { visitor, ...call }: Pick<Call, 'visitor' | 'params'>,
): Promise<IssuePlace> {
  const [owner, name] = named(call);
  const found = await lookup.find(
    { ...visitor, scopes: visitor.scopes?.includes('public-only') === true ? ['public-only', 'all'] : undefined },
    owner,
    name,
  );
  if (found === undefined) throw unknown();
  return found;
}

/** @throws Problem (403) for who may only read, (423) where nothing is changed any more */
export function needWrite({ level, repository }: IssuePlace): void {
  if (!mayWrite(level))
    throw new PageProblem('git.forbidden', 403, 'This account may not do that with this repository.');
  needOpen(repository);
}

/** @throws Problem (423) */
export function needOpen({ archived, owner, name }: Repository): void {
  if (archived) throw new Problem('git.archived', 423, `${owner}/${name} is archived`);
}

export function mayWrite(level: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf('write');
}

/** The issue or pull request of a call. @throws Problem (404) */
export async function issueAt(
  parts: Pick<IssueParts, 'lookup' | 'issues'>,
  call: Pick<Call, 'visitor' | 'params'>,
): Promise<IssuePlace & { readonly issue: Issue }> {
  const found = await repositoryAt(parts, call);
  const issue = await parts.issues.find(found.repository.id, numberOf(call.params['index']));
  if (issue === undefined) throw unknown();
  return { ...found, issue };
}

/** An entry of a timeline that the caller may see. */
export function seenEntry({ db }: Pick<IssueParts, 'db'>, { visitor }: Pick<Call, 'visitor'>, id: number) {
  return db
    .selectFrom('issue_entries')
    .selectAll()
    .where('id', '=', id)
    .where(seenBy(visitor.identity?.account))
    .executeTakeFirst();
}

/** The comment of a call, which belongs to its repository. @throws Problem (404) */
export async function commentAt(
  parts: Pick<IssueParts, 'db' | 'issues' | 'lookup'>,
  call: Pick<Call, 'visitor' | 'params'>,
) {
  const place = await repositoryAt(parts, call);
  const entry = await seenEntry(parts, call, numberOf(call.params['id']));
  const issue = entry === undefined ? undefined : await parts.issues.byId(entry.issue_id);
  if (entry === undefined || issue?.repository_id !== place.repository.id) throw unknown();
  if (entry.kind !== 'comment' && entry.kind !== 'review' && entry.kind !== 'code') throw unknown();
  return { ...place, entry, issue };
}

/** @throws Problem (403) for who neither wrote it nor may write to the repository */
export function needAuthor(call: Call, { level, issue, repository }: IssuePlace & { readonly issue: Issue }): void {
  if (issue.author !== accountOf(call)) needWrite({ level, repository });
  needOpen(repository);
}

/** The accounts of an answer, read at once. */
export async function peopleOf(
  { context, db, owners }: Pick<IssueParts, 'db' | 'owners'> & { readonly context: Pick<Context, 'accounts'> },
  { base, visitor }: Pick<Call, 'base' | 'visitor'>,
  names: Iterable<string>,
): Promise<Person> {
  const wanted = [...new Set(names)];
  const rows =
    wanted.length === 0 ? [] : await db.selectFrom('owners').selectAll().where('name', 'in', wanted).execute();
  const known = new Map(rows.map((row) => [row.name, row]));
  for (const name of wanted) {
    // Of somebody who was never asked for before; who is gone keeps his row.
    if (!known.has(name) && (await context.accounts.find(name)) !== undefined) {
      known.set(name, await owners.ofAccount(name));
    }
  }
  const { identity } = visitor;
  return (name) => {
    const row = known.get(name);
    if (row === undefined) return ghost(base);
    const self = identity?.account === name;
    return userOf(row, base, self ? { self, admin: identity.role === 'admin' } : {});
  };
}

function ghost(base: string): unknown {
  const row = {
    ...({ id: -1, name: 'Ghost', lower_name: 'ghost', kind: 'account', visibility: 'public' } as const),
    ...{ full_name: '', description: '', created_at: 0, profile: '{}', email: '' },
  };
  return userOf(row, base);
}

/** Everybody who is named in issues. */
export function namesIn(issues: readonly Issue[]): readonly string[] {
  return issues.flatMap(({ author, assignees, request }) => [
    author,
    ...assignees,
    ...((request?.merged_by ?? '') ? [request?.merged_by ?? ''] : []),
  ]);
}

/** Accounts by the names a client gives, as they are written; an empty one is nobody, as some clients write that. @throws Problem (422) for one that is not there */
export async function accountsNamed(
  { context }: Pick<IssueParts, 'context'>,
  names: readonly string[],
): Promise<readonly string[]> {
  const accounts = await context.accounts.list();
  return names
    .filter((name) => name !== '')
    .map((name) => {
      const found = accounts.find((account) => account.name.toLowerCase() === name.toLowerCase());
      if (found === undefined || found.name === '*') {
        throw new Problem('git.invalid', 422, `Assignee does not exist: [name: ${name}]`);
      }
      return found.name;
    });
}

/** A time that a client gives. @throws Problem (422) */
export function timeAt(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || text === '') return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new Problem('git.invalid', 422, `parsing time ${JSON.stringify(text)} failed`);
  return time;
}
