import type Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';

/** Whether a commit of an SQLite connection waits for the disk. It does, unless {@link Durability.release} was called. */
export interface Durability {
  /** The next transaction does not sync; the caller has the connection for itself until it calls `restore`. */
  release(): void;
  restore(): void;
  /** Call before each statement. */
  before(query: CompiledQuery): void;
}

/**
 * The level belongs to the connection and cannot be changed within a transaction. Setting it for each transaction would
 * cost as much as a statement, and most are followed by one of the same kind; so it is set when it is needed.
 */
export function createDurability(database: Sqlite.Database): Durability {
  let released = false;
  let full = true;
  const set = (wanted: boolean): void => {
    if (full === wanted) return;
    // Not pragma(), which makes a statement object each time.
    database.exec(`PRAGMA synchronous = ${wanted ? 'FULL' : 'NORMAL'}`);
    full = wanted;
  };
  return {
    release() {
      set(false);
      released = true;
    },
    restore() {
      released = false;
    },
    before({ query }) {
      if (!full && !released && query.kind !== 'SelectQueryNode' && !database.inTransaction) set(true);
    },
  };
}
