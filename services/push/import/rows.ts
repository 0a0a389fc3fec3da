import type BetterSqlite3 from 'better-sqlite3';

type Row = Readonly<Record<string, unknown>>;

/** All rows of a table; none where an older release of the peer did not have it. */
export function rowsOf(db: BetterSqlite3.Database, table: 'user' | 'user_access' | 'user_token'): readonly Row[] {
  return hasTable(db, table) ? (db.prepare(`SELECT * FROM ${table}`).all() as Row[]) : [];
}

export function hasTable(db: BetterSqlite3.Database, table: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

/** Text as it is; empty for null and what else a column of another release may hold. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `1 token`, `2 tokens` */
