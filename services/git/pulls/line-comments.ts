import type { Kysely } from 'kysely';
import { isVisibleTo } from '../issues/entry-visibility.ts';
import type { Issue } from '../issues/issues.ts';
import type { Tables } from '../store/tables.ts';

/** Counts the submitted line comments of each pull request. */
export async function countLineComments(
  db: Kysely<Tables>,
  pulls: readonly Pick<Issue, 'id'>[],
): Promise<ReadonlyMap<number, number>> {
  if (pulls.length === 0) return new Map();
  const rows = await db
    .selectFrom('issue_entries')
    .select(['issue_id', (is) => is.fn.countAll<number>().as('count')])
    .where('kind', '=', 'code')
    .where(
      'issue_id',
      'in',
      pulls.map(({ id }) => id),
    )
    .where(isVisibleTo(undefined))
    .groupBy('issue_id')
    .execute();
  return new Map(rows.map(({ issue_id, count }) => [issue_id, Number(count)]));
}
