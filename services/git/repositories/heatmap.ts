import { sql } from 'kysely';
import type { RepositoryVisibility } from './repository-query.ts';
import type { RepositoryStorage } from './storage.ts';

/** Time span of one part of the heatmap, s; all time zones differ by whole parts. */
const partSeconds = 15 * 60;

/** Number of contributions in a quarter of an hour. */
export interface HeatmapPart {
  /** Start in s since the epoch. */
  readonly timestamp: number;
  readonly contributions: number;
}

/**
 * Counts pushes, issues, pull requests, comments and events by quarters of an hour.
 *
 * @param query.account Counts only what this account did.
 * @param query.since Start in ms since the epoch.
 */
export async function readHeatmap(
  { db, repositories }: Pick<RepositoryStorage, 'db' | 'repositories'>,
  query: { readonly visibility: RepositoryVisibility; readonly since: number; readonly account?: string },
): Promise<readonly HeatmapPart[]> {
  const { account, since } = query;
  const ids = repositories.selectIds({ visibility: query.visibility });
  let pushes = db.selectFrom('push_history').select('created_at').where('repository_id', 'in', ids);
  let issues = db.selectFrom('issues').select('created_at').where('repository_id', 'in', ids);
  let entries = db
    .selectFrom('issue_entries')
    .innerJoin('issues', 'issues.id', 'issue_entries.issue_id')
    .select('issue_entries.created_at')
    .where('issues.repository_id', 'in', ids);
  if (account !== undefined) {
    pushes = pushes.where('account', '=', account);
    issues = issues.where('author', '=', account);
    entries = entries.where('issue_entries.author', '=', account);
  }
  const rows = await db
    .selectFrom(pushes.unionAll(issues).unionAll(entries).as('times'))
    .select([
      sql<number>`created_at / ${sql.lit(1000 * partSeconds)}`.as('part'),
      (is) => is.fn.countAll<number>().as('count'),
    ])
    .where('created_at', '>=', since)
    .groupBy('part')
    .orderBy('part')
    .execute();
  return rows.map(({ part, count }) => ({ timestamp: Number(part) * partSeconds, contributions: Number(count) }));
}
