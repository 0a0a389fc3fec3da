import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Context, Log, Migration } from '../../../services/contracts/service.ts';
import { createGroupCommit } from './commit.ts';
import { migrate } from './migrate.ts';
import { openReads } from './reads/reads.ts';
import type { ReadThread } from './reads/thread.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { PostgresLocation } from './postgres.ts';
import { openSqlite, type Engine } from './sqlite.ts';

/** Tables of one service in either dialect; README.md in this folder describes the common subset. */
export interface Database extends AsyncDisposable {
  readonly kysely: Kysely<any>;
  /** Value of `Context.reads`; same as `kysely` when there is no separate reader. */
  readonly reads: Kysely<any>;
  readonly dialect: 'sqlite' | 'postgres';
  /** Folder of the database file, which no other process uses; undefined for a server. */
  readonly folder: string | undefined;
  readonly commit: Context['commit'];
  /**
   * Like `commit`, without waiting for the disk: for marks whose loss only repeats work. The end of the process loses
   * nothing; a power failure may lose the latest ones, but none from before the last `commit`. Notes reach the disk
   * within a second.
   */
  readonly note: Context['commit'];
  /** Like `note`, without waiting for the durable group it may have read from; `settling` reports that. */
  readonly mark: Context['commit'];
  /**
   * For a transaction of `commit`: resolves with true when it is on the disk, with false when it was rolled back or
   * is in doubt; undefined for other transactions.
   */
  readonly settling: (transaction: Kysely<any>) => Promise<boolean> | undefined;
  /**
   * Call once with all steps that ever existed, in order: those of the host's own tables first, then the service's.
   * @throws Problem `database.newer` (409), `database.migration_failed` (500).
   */
  readonly migrate: (migrations: readonly Migration[]) => Promise<void>;
  /**
   * Writes a consistent copy to `file` while writers continue.
   * @throws Problem `database.backup_elsewhere` (501) on PostgreSQL, `database.full` (507); no partial file remains.
   */
  readonly backup: (file: string) => Promise<void>;
}

/**
 * Opens `<folder>/db.sqlite`, or with a `url` the schema `schema` of that PostgreSQL server. External failures are
 * thrown as Problems: `database.full` (507), `database.busy` and `database.unreachable` (503). The disposal waits for
 * the current group commit.
 */
export async function openDatabase(options: {
  readonly folder: string;
  readonly schema: string;
  readonly url?: string;
  /** The caller moves the database, which excludes hosts. */
  readonly isMove?: boolean;
  readonly log: Log;
  /** Reads SQLite files outside of the event loop. */
  readonly readThread?: ReadThread;
  /** Measures each statement on the event loop. */
  readonly loop?: LoopWatch | undefined;
}): Promise<Database> {
  const { folder, schema, url, isMove = false, log, readThread, loop } = options;
  const engine =
    url === undefined
      ? openSqlite(folder, log, loop === undefined ? undefined : { loop, service: schema })
      : await openServer({ url, schema, isMove }, log);
  const group = createGroupCommit(engine.transactions, log);
  const reads =
    url === undefined && readThread !== undefined ? openReads(readThread, join(folder, 'db.sqlite')) : engine.kysely;
  let closing: Promise<void> | undefined;
  return {
    kysely: engine.kysely,
    reads,
    dialect: url === undefined ? 'sqlite' : 'postgres',
    folder: url === undefined ? folder : undefined,
    commit: group.commit,
    note: group.note,
    mark: group.mark,
    settling: group.settling,
    migrate: (migrations) => migrate(engine.kysely, migrations, engine.lock),
    backup: engine.backup,
    [Symbol.asyncDispose]: () =>
      (closing ??= (async () => {
        // An open reader would prevent the checkpoint of the write-ahead log.
        if (reads !== engine.kysely) await reads.destroy();
        await group.close();
        await engine.close();
      })()),
  };
}

/** Loaded on demand, since most installations use no server and its driver takes 7 MB. */
async function openServer(location: PostgresLocation, log: Log): Promise<Engine> {
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres(location, log);
}
