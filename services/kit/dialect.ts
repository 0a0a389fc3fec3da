import { PostgresAdapter, type Kysely } from 'kysely';

/** Whether the tables are in PostgreSQL; else they are in SQLite. */
export function isPostgres(db: Kysely<any>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
