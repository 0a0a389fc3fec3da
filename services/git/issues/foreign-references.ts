import type { Kysely } from 'kysely';
import { findForeignReferences, type ForeignReference } from '../domain/issue-text.ts';
import type { EntryDetails, EntryKind } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { addEntry, type IssueWork } from './writer.ts';

/** Maximum number of issues of other repositories that one text adds entries to. */
const maxReferences = 20;

/**
 * Adds an entry to the timeline of each issue of another repository that a text refers to, such as `ada/harbor#3`. The
 * account must be able to see the other repository without a grant: as its owner, as a member or collaborator, or
 * because it is visible to all accounts. A reference from another repository never closes an issue.
 *
 * @param details Issue or commit of this repository with the text. A text that refers to an issue again adds nothing.
 */
export async function recordForeignReferences(
  work: IssueWork,
  kind: EntryKind,
  text: string,
  { body, ...details }: EntryDetails & { readonly body?: string },
): Promise<void> {
  const { account, db, repository } = work;
  const references = findForeignReferences(text, `${repository.owner}/${repository.name}`);
  for (const reference of references.slice(0, maxReferences)) {
    const issue = await findVisibleIssue(db, account, reference);
    if (issue === undefined) continue;
    const stored = { ...details, repository: repository.id };
    const existing = await db
      .selectFrom('issue_entries')
      .select('id')
      .where('issue_id', '=', issue.id)
      .where('kind', '=', kind)
      .where('details', '=', JSON.stringify(stored))
      .executeTakeFirst();
    if (existing === undefined)
      await addEntry(work, issue.id, kind, { ...stored, ...(body === undefined ? {} : { body }) });
  }
}

/** Finds an issue in the transaction of the change, because the repository may be changed by it. */
async function findVisibleIssue(
  db: Kysely<Tables>,
  account: string,
  { owner, name, number }: ForeignReference,
): Promise<{ readonly id: number } | undefined> {
  return await db
    .selectFrom('issues')
    .innerJoin('repositories', 'repositories.id', 'issues.repository_id')
    .innerJoin('owners', 'owners.id', 'repositories.owner_id')
    .select('issues.id')
    .where('owners.lower_name', '=', owner.toLowerCase())
    .where('repositories.lower_name', '=', name.toLowerCase())
    .where('issues.number', '=', number)
    .where((is) =>
      is.or([
        is.and([is('repositories.private', '=', 0), is('owners.visibility', 'in', ['public', 'limited'])]),
        is.and([is('owners.kind', '=', 'account'), is('owners.name', '=', account)]),
        is(
          'owners.id',
          'in',
          is.selectFrom('organization_members').select('organization_members.owner_id').where('account', '=', account),
        ),
        is(
          'repositories.id',
          'in',
          is.selectFrom('collaborators').select('collaborators.repository_id').where('account', '=', account),
        ),
      ]),
    )
    .executeTakeFirst();
}
