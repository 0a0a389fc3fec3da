import { sql, type Kysely, type RawBuilder } from 'kysely';
import { isPostgres } from '../../kit/dialect.ts';
import { foldTerms, type Phrase } from '../../kit/search-terms.ts';
import { toFtsMatch, toTsQuery, toTsVector } from '../../kit/word-queries.ts';
import { isVisibleTo } from './entry-visibility.ts';
import type { Tables } from '../store/tables.ts';

/** Maximum number of indexed characters of an issue with its comments. */
const maxIndexedLength = 64_000;

/**
 * Updates the full-text index of an issue. Call it in the transaction that changed the title, the text or a comment.
 */
export async function indexIssue(transaction: Kysely<Tables>, issue: number): Promise<void> {
  const row = await transaction
    .selectFrom('issues')
    .select(['title', 'body'])
    .where('id', '=', issue)
    .executeTakeFirst();
  if (row === undefined) return;
  const comments = await transaction
    .selectFrom('issue_entries')
    .select('body')
    .where('issue_id', '=', issue)
    .where('kind', 'in', ['comment', 'code', 'review'])
    .where(isVisibleTo(undefined))
    .orderBy('id')
    .execute();
  const text = [row.title, row.body, ...comments.map(({ body }) => body)].join('\n').slice(0, maxIndexedLength);
  const terms = foldTerms(text);
  if (isPostgres(transaction)) {
    await sql`
      insert into issue_words (issue, words) values (${issue}, ${toTsVector(terms)}::tsvector)
      on conflict (issue) do update set words = excluded.words`.execute(transaction);
    return;
  }
  await sql`delete from issue_words where rowid = ${issue}`.execute(transaction);
  await sql`insert into issue_words (rowid, words) values (${issue}, ${terms.join(' ')})`.execute(transaction);
}

/** Builds the condition that an issue contains all phrases. */
export function matchesPhrases(
  db: Kysely<any>,
  issue: RawBuilder<unknown>,
  phrases: readonly Phrase[],
): RawBuilder<boolean> {
  return isPostgres(db)
    ? sql<boolean>`${issue} in (select issue from issue_words where words @@ ${toTsQuery(phrases)}::tsquery)`
    : sql<boolean>`${issue} in (select rowid from issue_words where issue_words match ${toFtsMatch(phrases)})`;
}
