import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { isWithinScope, type Scope } from './scope.ts';
import type { RunRow } from './repeats.ts';
import { toBit, type Tables } from './tables.ts';
import { buildContainsPattern } from '../../kit/like-pattern.ts';

/** Filter of rows; omitted fields match all rows. */
export interface ItemFilter {
  /** Search text as entered. */
  readonly q?: string | undefined;
  readonly source?: string | undefined;
  readonly topic?: string | undefined;
  readonly tag?: string | undefined;
  readonly minPriority?: number | undefined;
  readonly unread?: boolean | undefined;
  readonly done?: boolean | undefined;
  readonly scope?: Scope | undefined;
  /** Only the newest row of each run of repeats. */
  readonly newest?: boolean | undefined;
  /** Only the earlier rows that this row repeats. */
  readonly repeatsOf?: (RunRow & { readonly id: number }) | undefined;
}

/** Applies a filter to a query, except for the search text. */
export function applyFilter<Row>(
  query: SelectQueryBuilder<Tables, 'items', Row>,
  filter: ItemFilter,
): SelectQueryBuilder<Tables, 'items', Row> {
  const { source, topic, tag, minPriority, unread, done, scope, newest, repeatsOf: run } = filter;
  let filtered = query;
  if (scope !== undefined) filtered = filtered.where((row) => isWithinScope(row, scope));
  if (newest === true) filtered = filtered.where('latest', '=', toBit(true));
  if (run !== undefined) {
    const { id, likeness, since, done: isDone } = run;
    filtered = filtered
      .where('latest', '=', toBit(false))
      .where('likeness', '=', likeness)
      .where('since', '=', since)
      .where('done', '=', toBit(isDone))
      .where('id', '<', id);
  }
  if (done !== undefined) filtered = filtered.where('done', '=', toBit(done));
  if (unread !== undefined) filtered = filtered.where('read', '=', toBit(!unread));
  if (source !== undefined) filtered = filtered.where('source', '=', source);
  if (topic !== undefined) filtered = filtered.where('topic', '=', topic);
  if (minPriority !== undefined) filtered = filtered.where('priority', '>=', minPriority);
  if (tag !== undefined) filtered = filtered.where((row) => row.or(hasTag(tag)));
  return filtered;
}

/** An unescaped quote after `[` or `,` begins an element of a JSON list, so a tag is matched exactly. */
function hasTag(tag: string): Expression<SqlBool>[] {
  const tags = sql.ref('tags');
  // LIKE is case-sensitive in PostgreSQL but not in SQLite, and the function that finds a substring differs.
  const contains = (text: string): Expression<SqlBool> => sql<SqlBool>`replace(${tags}, ${text}, '') <> ${tags}`;
  return [contains(`[${JSON.stringify(tag)}`), contains(`,${JSON.stringify(tag)}`)];
}

/** Matches rows without index entry whose text contains the word. */
export function includes(word: string): Expression<SqlBool> {
  return sql<SqlBool>`${sql.ref('search')} like ${buildContainsPattern(word)} escape '\\'`;
}
