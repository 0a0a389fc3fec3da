import type Sqlite from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/**
 * Prepared statements by their SQL text. Preparing costs more than running for the short statements stores use; the
 * ones that were not used for longest make room.
 */
export class StatementCache implements SqliteDatabase {
  readonly #database: Sqlite.Database;
  readonly #capacity: number;
  readonly #statements = new Map<string, Sqlite.Statement<unknown[]>>();

  constructor(database: Sqlite.Database, capacity = 200) {
    this.#database = database;
    this.#capacity = capacity;
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    const statement = known ?? this.#database.prepare<unknown[]>(sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, statement);
    if (this.#statements.size > this.#capacity) {
      for (const oldest of this.#statements.keys()) {
        this.#statements.delete(oldest);
        break;
      }
    }
    return statement;
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.open) this.#database.close();
  }
}
