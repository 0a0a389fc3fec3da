import { chmodSync, closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import {
  CompiledQuery,
  Kysely,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDialectConfig,
  type SqliteStatement,
} from 'kysely';
import { setSynchronousRunner, type SynchronousRunner } from '../../../services/kit/cached-statement.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { Transactions } from './commit.ts';
import { createDurability, type Durability } from './durability.ts';
import { nameFault, namingFaults, watchConnection } from './faults.ts';
import { StatementCache, watchStatement, type WatchedLoop } from './statements.ts';
import { openWal } from './wal.ts';

export interface Engine {
  readonly kysely: Kysely<any>;
  /** What the group commit stands on. */
  readonly transactions: Transactions;
  /** Called in a transaction: makes other processes that migrate the same database wait until it ends. */
  readonly lock: (transaction: Kysely<any>) => Promise<void>;
  readonly backup: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens `<folder>/db.sqlite`, made with its folder when missing; both are for this user alone. */
export function openSqlite(folder: string, log: Log, watched?: WatchedLoop): Engine {
  const database = openFile(folder);
  const durability = createDurability(database);
  const statements = new StatementCache(database, watched);
  const kysely = new Kysely<any>({ dialect: new Dialect(database, statements, durability, watched) });
  const run: SynchronousRunner = (text, values) => runStatement(statements, text, values);
  // The connection is taken, so that no other statement can be in a transaction of its own meanwhile.
  const checkpoint = () => kysely.connection().execute(() => namingFaults(() => checkpointAll(database)));
  const wal = openWal(`${database.name}-wal`, checkpoint, log);
  return {
    kysely,
    transactions: {
      async transact(work, durable) {
        const value = await withoutSync(durability, kysely, run, work);
        if (!durable) wal.syncSoon();
        return value;
      },
      settle: () => wal.sync(),
    },
    // Every transaction begins with the write lock.
    lock: async () => {},
    backup: (file) => backup(database, file),
    async close() {
      await wal[Symbol.asyncDispose]();
      if (database.open) {
        try {
          database.pragma('optimize');
          checkpointAll(database);
        } catch (error) {
          // A full disk, most likely. The write-ahead log stays beside the file and holds everything.
          log.warn('database closed without a checkpoint', { error: nameFault(error) });
        }
      }
      await kysely.destroy();
      if (database.open) database.close();
    },
  };
}

function openFile(folder: string): Sqlite.Database {
  let database: Sqlite.Database | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const file = join(folder, 'db.sqlite');
    reserve(file);
    database = new Sqlite(file, { timeout: 5000 });
    database.pragma('journal_mode = WAL');
    // In WAL mode NORMAL would lose the last commits on a power cut, and a 250 or 200 was given for them.
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    // A process holds a dozen of these: 1 MiB of pages each, and a log that shrinks again after a burst.
    database.pragma('cache_size = -1024');
    database.pragma('journal_size_limit = 4194304');
    return database;
  } catch (error) {
    database?.close();
    throw withFile(nameFault(error), folder);
  }
}

/** A transaction whose commit does not sync. */
function withoutSync<T>(
  durability: Durability,
  kysely: Kysely<any>,
  run: SynchronousRunner,
  work: (transaction: Kysely<any>) => Promise<T>,
): Promise<T> {
  return kysely.connection().execute(async (connection) => {
    durability.release();
    try {
      return await connection.transaction().execute(async (transaction) => {
        setSynchronousRunner(transaction, run);
        try {
          return await work(transaction);
        } finally {
          // Whoever holds on to it is told by Kysely that it is over.
          setSynchronousRunner(transaction, undefined);
        }
      });
    } finally {
      durability.restore();
    }
  });
}

/** @throws Problem for the faults `faults.ts` names; SQLite's own errors. */
function runStatement(statements: StatementCache, text: string, values: readonly unknown[]): QueryResult<unknown> {
  try {
    const statement = statements.prepare(text);
    if (statement.reader) return { rows: statement.all(values) };
    return { rows: [], numAffectedRows: BigInt(statement.run(values).changes) };
  } catch (error) {
    throw nameFault(error);
  }
}

/** Moves everything from the log into the database, synced. @throws Problem `database.busy` while another process reads. */
function checkpointAll(database: Sqlite.Database): void {
  const [outcome] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (outcome?.busy !== 0) throw new Problem('database.busy', 503, 'Another process is reading the database.');
}

/** What is damaged is told with its place: someone has to put it back. */
function withFile(error: unknown, folder: string): unknown {
  if (!(error instanceof Problem) || error.code !== 'database.damaged') return error;
  const detail = `${join(folder, 'db.sqlite')}: ${error.detail}`;
  return new Problem(error.code, error.status, detail, { cause: error.cause, retryable: false });
}

/** Makes the file with mode 0600 before SQLite would make it with the process's own. */
function reserve(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** SQLite's online backup on the same connection: writers go on, and what they change meanwhile is in the copy. */
async function backup(database: Sqlite.Database, file: string): Promise<void> {
  await namingFaults(async () => {
    try {
      reserve(file);
      await database.backup(file);
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
  });
}

const beginning = CompiledQuery.raw('begin immediate');

class Dialect extends SqliteDialect {
  readonly #driver: Driver;
  constructor(
    database: Sqlite.Database,
    statements: StatementCache,
    durability: Durability,
    watched: WatchedLoop | undefined,
  ) {
    const config = { database: statements };
    super(config);
    this.#driver = new Driver(database, durability, config, watched);
  }
  override createDriver(): Driver {
    return this.#driver;
  }
}

class Driver extends SqliteDriver {
  readonly #database: Sqlite.Database;
  readonly #durability: Durability;
  readonly #begin: Sqlite.Statement;
  readonly #commit: SqliteStatement;
  constructor(
    database: Sqlite.Database,
    durability: Durability,
    config: SqliteDialectConfig,
    watched: WatchedLoop | undefined,
  ) {
    super(config);
    this.#database = database;
    this.#durability = durability;
    // With the write lock at once: a transaction that reads first would else fail when another process wrote between.
    this.#begin = database.prepare('begin immediate');
    // It moves the log into the database from time to time.
    this.#commit = watchStatement(database.prepare<unknown[]>('commit'), 'commit', watched);
  }
  override async acquireConnection(): Promise<DatabaseConnection> {
    return watchConnection(await super.acquireConnection(), (query) => this.#durability.before(query));
  }
  override async beginTransaction(): Promise<void> {
    await namingFaults(() => {
      this.#durability.before(beginning);
      this.#begin.run();
    });
  }
  override async commitTransaction(): Promise<void> {
    await namingFaults(() => void this.#commit.run([]));
  }
  /** A full disk makes SQLite roll back by itself; asking once more would hide the first error behind a second. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}
