import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Tables } from './tables.ts';

/** The rows that somebody may see or change: those of some push topics, and of what came another way those of some sources. */
export interface Scope {
  readonly topics: readonly string[];
  readonly sources: readonly string[];
}

/** The condition that a row is within a scope; without one every row is. */
export function within(row: ExpressionBuilder<Tables, 'items'>, scope: Scope | undefined): Expression<SqlBool> {
  if (scope === undefined) return row.lit(true);
  const { topics, sources } = scope;
  return row.or([
    ...(topics.length === 0 ? [] : [row('topic', 'in', topics)]),
    ...(sources.length === 0 ? [] : [row.and([row('topic', '=', ''), row('source', 'in', sources)])]),
  ]);
}
