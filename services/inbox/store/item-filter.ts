import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { escaped } from '../item-text.ts';
import { within, type Scope } from './scope.ts';
import type { InRun } from './repeats.ts';
import { bit, type Tables } from './tables.ts';

/** Which rows are asked for; what is left out does not matter. */
export interface Wanted {
  /** What somebody seeks, as it was typed. */
  readonly q?: string | undefined;
  readonly source?: string | undefined;
  readonly tag?: string | undefined;
  readonly minPriority?: number | undefined;
  readonly unread?: boolean | undefined;
  readonly done?: boolean | undefined;
  readonly scope?: Scope | undefined;
  /** Of repeats the newest alone. */
  readonly newest?: boolean | undefined;
  /** The earlier rows of which this one is a repeat. */
  readonly repeatsOf?: (InRun & { readonly id: number }) | undefined;
}

/** The query for those of its rows that are wanted, apart from their words. */
export function narrow<Row>(
  query: SelectQueryBuilder<Tables, 'items', Row>,
  wanted: Wanted,
): SelectQueryBuilder<Tables, 'items', Row> {
  const { source, tag, minPriority, unread, done, scope, newest, repeatsOf } = wanted;
  let narrowed = query;
  if (scope !== undefined) narrowed = narrowed.where((row) => within(row, scope));
  if (newest === true) narrowed = narrowed.where('latest', '=', bit(true));
  if (repeatsOf !== undefined) {
    const { id, likeness, since, done: put } = repeatsOf;
    narrowed = narrowed
      .where('latest', '=', bit(false))
      .where('likeness', '=', likeness)
      .where('since', '=', since)
      .where('done', '=', bit(put))
      .where('id', '<', id);
  }
  if (done !== undefined) narrowed = narrowed.where('done', '=', bit(done));
  if (unread !== undefined) narrowed = narrowed.where('read', '=', bit(!unread));
  if (source !== undefined) narrowed = narrowed.where('source', '=', source);
  if (minPriority !== undefined) narrowed = narrowed.where('priority', '>=', minPriority);
  if (tag !== undefined) narrowed = narrowed.where((row) => row.or(tagged(tag)));
  return narrowed;
}

/** In a JSON list an unescaped quote after `[` or `,` begins an element: so a tag is found as a whole, in its case. */
function tagged(tag: string): Expression<SqlBool>[] {
  const tags = sql.ref('tags');
  // LIKE minds the case on PostgreSQL and not on SQLite, and what finds a text in a text has another name on each.
  const holds = (text: string): Expression<SqlBool> => sql<SqlBool>`replace(${tags}, ${text}, '') <> ${tags}`;
  return [holds(`[${JSON.stringify(tag)}`), holds(`,${JSON.stringify(tag)}`)];
}

/** Whether the text of a row without words of its own has this one. */
export function includes(word: string): Expression<SqlBool> {
  return sql<SqlBool>`${sql.ref('search')} like ${`%${escaped(word)}%`} escape '\\'`;
}
