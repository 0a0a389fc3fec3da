import type BetterSqlite3 from 'better-sqlite3';

type Row = Readonly<Record<string, unknown>>;

/** Returns all rows of a table; empty when the release of ntfy did not have it. */
export function readRows(db: BetterSqlite3.Database, table: 'user' | 'user_access' | 'user_token'): readonly Row[] {
  return hasTable(db, table) ? (db.prepare(`SELECT * FROM ${table}`).all() as Row[]) : [];
}

export function hasTable(db: BetterSqlite3.Database, table: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

/** Returns a text column; empty for null and other types. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
