import { findReferences } from '../domain/issue-text.ts';
import type { EntryKind, IssueRow } from '../store/issue-tables.ts';
import { recordForeignReferences } from './foreign-references.ts';
import { addEntry, type IssueWork } from './writer.ts';

/**
 * Adds an entry to the timeline of each issue that a text refers to, also in other repositories. A text that refers to an issue
 * again adds nothing.
 *
 * @param source Issue or pull request with the text.
 * @param isComment The text is a comment.
 */
export async function recordIssueReferences(
  work: IssueWork,
  source: Pick<IssueRow, 'id' | 'number' | 'pull'>,
  text: string,
  { isComment = false }: { readonly isComment?: boolean } = {},
): Promise<void> {
  const { db, repository } = work;
  const kind: EntryKind = isComment ? 'comment_ref' : source.pull === 1 ? 'pull_ref' : 'issue_ref';
  for (const { action, number } of findReferences(text, `${repository.owner}/${repository.name}`)) {
    if (number === source.number) continue;
    const target = await db
      .selectFrom('issues')
      .select('id')
      .where('repository_id', '=', repository.id)
      .where('number', '=', number)
      .executeTakeFirst();
    if (target === undefined) continue;
    const details = { reference: source.number, action: source.pull === 1 ? action : 'none' } as const;
    const existing = await db
      .selectFrom('issue_entries')
      .select('id')
      .where('issue_id', '=', target.id)
      .where('kind', '=', kind)
      .where('details', '=', JSON.stringify(details))
      .executeTakeFirst();
    if (existing === undefined) await addEntry(work, target.id, kind, details);
  }
  await recordForeignReferences(work, kind, text, { reference: source.number, action: 'none' });
}
