import * as m from '#messages/host-problems';
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
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { syncLeavesDiskCache } from '../../../services/kit/platform/file-systems.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { Transactions } from './commit.ts';
import { createDurability, type Durability } from './durability.ts';
import { toDatabaseError, withDatabaseErrors, watchConnection } from './faults.ts';
import { StatementCache, watchStatement, type WatchedLoop } from './statements.ts';
import { openWal } from './wal.ts';

export interface Engine {
  readonly kysely: Kysely<any>;
  /** Transactions for the group commit. */
  readonly transactions: Transactions;
  /** Called in a transaction: makes other processes that migrate the same database wait until it ends. */
  readonly lock: (transaction: Kysely<any>) => Promise<void>;
  readonly backup: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens `<folder>/db.sqlite` and creates it with its folder if missing; both are accessible to this user only. */
export function openSqlite(
  folder: string,
  log: Log,
  loop?: WatchedLoop,
  platform: NodeJS.Platform = currentPlatform,
): Engine {
  const database = openFile(folder, platform);
  const durability = createDurability(database);
  const statements = new StatementCache(database, loop);
  const kysely = new Kysely<any>({ dialect: new Dialect(database, statements, durability, loop) });
  const run: SynchronousRunner = (text, values) => runStatement(statements, text, values);
  // Acquires the connection, so that no other statement is in a transaction at the same time.
  const checkpoint = () => kysely.connection().execute(() => withDatabaseErrors(() => checkpointAll(database)));
  const wal = openWal(`${database.name}-wal`, checkpoint, log);
  return {
    kysely,
    transactions: {
      async transact(work, durable) {
        const value = await withoutSync(durability, kysely, run, work);
        if (!durable) wal.scheduleSync();
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
          // Most likely the disk is full. The write-ahead log remains beside the file with all data.
          log.warn('database closed without a checkpoint', { error: toDatabaseError(error) });
        }
      }
      await kysely.destroy();
      if (database.open) database.close();
    },
  };
}

function openFile(folder: string, platform: NodeJS.Platform): Sqlite.Database {
  let database: Sqlite.Database | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    const file = join(folder, 'db.sqlite');
    reserve(file);
    database = new Sqlite(file, { timeout: 5000 });
    database.pragma('journal_mode = WAL');
    // In WAL mode, NORMAL could lose confirmed commits in a power failure.
    database.pragma('synchronous = FULL');
    if (syncLeavesDiskCache(platform)) {
      database.pragma('fullfsync = ON');
      database.pragma('checkpoint_fullfsync = ON');
    }
    database.pragma('foreign_keys = ON');
    // A process has a dozen databases: limits the cache to 1 MiB each, and shrinks the log after a burst.
    database.pragma('cache_size = -1024');
    database.pragma('journal_size_limit = 4194304');
    return database;
  } catch (error) {
    database?.close();
    throw withFile(toDatabaseError(error), folder);
  }
}

/** Runs a transaction whose commit does not sync. */
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
          // Later use of the transaction is then refused by Kysely.
          setSynchronousRunner(transaction, undefined);
        }
      });
    } finally {
      durability.restore();
    }
  });
}

/** @throws Problem for the errors of `faults.ts`; SQLite's own errors. */
function runStatement(statements: StatementCache, text: string, values: readonly unknown[]): QueryResult<unknown> {
  try {
    const statement = statements.prepare(text);
    if (statement.reader) return { rows: statement.all(values) };
    return { rows: [], numAffectedRows: BigInt(statement.run(values).changes) };
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/**
 * Moves the whole log into the database and syncs it.
 * @throws Problem `database.busy` while another process reads.
 */
function checkpointAll(database: Sqlite.Database): void {
  const [outcome] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (outcome?.busy !== 0) throw new Problem('database.busy', 503, m.databaseReadByOther);
}

/** Adds the path to an error about a damaged file, which must be restored manually. */
function withFile(error: unknown, folder: string): unknown {
  if (!(error instanceof Problem) || error.code !== 'database.damaged') return error;
  const detail = (): string => `${join(folder, 'db.sqlite')}: ${error.detail}`;
  return new Problem(error.code, error.status, detail, { cause: error.cause, retryable: false });
}

/** Creates the file with mode 0600 before SQLite would create it with the default mode. */
function reserve(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** Uses SQLite's online backup on the same connection: writers continue, and their changes are included. */
async function backup(database: Sqlite.Database, file: string): Promise<void> {
  await withDatabaseErrors(async () => {
    try {
      reserve(file);
      await database.backup(file);
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
  });
}

const startsTransaction = CompiledQuery.raw('begin immediate');

class Dialect extends SqliteDialect {
  readonly #driver: Driver;
  constructor(
    database: Sqlite.Database,
    statements: StatementCache,
    durability: Durability,
    loop: WatchedLoop | undefined,
  ) {
    const config = { database: statements };
    super(config);
    this.#driver = new Driver(database, durability, config, loop);
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
    loop: WatchedLoop | undefined,
  ) {
    super(config);
    this.#database = database;
    this.#durability = durability;
    // Takes the write lock at the begin: a transaction that starts with a read would fail when another process writes
    // in between.
    this.#begin = database.prepare('begin immediate');
    // A commit occasionally checkpoints the log.
    this.#commit = watchStatement(database.prepare<unknown[]>('commit'), 'commit', loop);
  }
  override async acquireConnection(): Promise<DatabaseConnection> {
    return watchConnection(await super.acquireConnection(), (query) => this.#durability.before(query));
  }
  override async beginTransaction(): Promise<void> {
    await withDatabaseErrors(() => {
      this.#durability.before(startsTransaction);
      this.#begin.run();
    });
  }
  override async commitTransaction(): Promise<void> {
    await withDatabaseErrors(() => void this.#commit.run([]));
  }
  /** SQLite rolls back automatically on a full disk; a second rollback would hide the first error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}
