import type Sqlite from 'better-sqlite3';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import type { LoopWatch } from '../runtime/loop-watch.ts';

/** Service and event loop for the attribution of delays. */
export interface WatchedLoop {
  readonly loop: Pick<LoopWatch, 'begin' | 'end'>;
  readonly service: string;
}

/** Values are bound, so the text contains no stored data. */
export function watchStatement(
  statement: Sqlite.Statement<unknown[]>,
  text: string,
  watched: WatchedLoop | undefined,
): SqliteStatement {
  if (watched === undefined) return statement;
  const { loop, service } = watched;
  const timed =
    <T>(work: (values: readonly unknown[]) => T) =>
    (values: readonly unknown[] = []): T => {
      const start = loop.begin(service, text);
      try {
        return work(values);
      } finally {
        loop.end(service, text, start);
      }
    };
  return {
    reader: statement.reader,
    all: timed((values) => statement.all(values)),
    run: timed((values) => statement.run(values)),
    iterate: (values) => statement.iterate(values),
  };
}

/**
 * Prepared statements by their SQL text, with LRU eviction. For the short statements of the stores, preparing costs
 * more than running.
 */
export class StatementCache implements SqliteDatabase {
  readonly #database: Sqlite.Database;
  readonly #loop: WatchedLoop | undefined;
  readonly #capacity: number;
  readonly #statements = new Map<string, SqliteStatement>();

  /** `watched`: event loop that the statements run on. */
  constructor(database: Sqlite.Database, watched?: WatchedLoop, capacity = 200) {
    this.#database = database;
    this.#loop = watched;
    this.#capacity = capacity;
  }

  prepare(sql: string): SqliteStatement {
    const cached = this.#statements.get(sql);
    const statement = cached ?? watchStatement(this.#database.prepare<unknown[]>(sql), sql, this.#loop);
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
