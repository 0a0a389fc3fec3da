import { PostgresAdapter, type Kysely } from 'kysely';

/** Returns whether the tables are in PostgreSQL; otherwise they are in SQLite. */
export function isPostgres(db: Kysely<any>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
