import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { Tables } from './tables.ts';

/** Rows that the caller may read or change: those of some push topics, and others by source. */
export interface Scope {
  readonly topics: readonly string[];
  readonly sources: readonly string[];
}

/** Returns the condition that a row is within a scope; without scope, all rows match. */
export function isWithinScope(row: ExpressionBuilder<Tables, 'items'>, scope: Scope | undefined): Expression<SqlBool> {
  if (scope === undefined) return row.lit(true);
  const { topics, sources } = scope;
  return row.or([
    ...(topics.length === 0 ? [] : [row('topic', 'in', topics)]),
    ...(sources.length === 0 ? [] : [row.and([row('topic', '=', ''), row('source', 'in', sources)])]),
  ]);
}
