import type Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';

/**
 * Controls whether a commit of an SQLite connection waits for the disk. It does, unless {@link Durability.release}
 * was called.
 */
export interface Durability {
  /**
   * Skips the sync of the next transaction; the caller must have exclusive use of the connection until it calls
   * `restore`.
   */
  release(): void;
  restore(): void;
  /** Call before each statement. */
  before(query: CompiledQuery): void;
}

/**
 * Creates the durability of a connection. The level belongs to the connection and cannot be changed within a
 * transaction. Setting it for each transaction would cost as much as a statement, and usually the next one is of the
 * same kind; so it is set on demand.
 */
export function createDurability(database: Sqlite.Database): Durability {
  let released = false;
  let full = true;
  const set = (isFull: boolean): void => {
    if (full === isFull) return;
    // `pragma()` would create a statement object each time.
    database.exec(`PRAGMA synchronous = ${isFull ? 'FULL' : 'NORMAL'}`);
    full = isFull;
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
