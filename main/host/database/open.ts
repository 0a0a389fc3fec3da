import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Context, Log, Migration } from '../../../services/contracts/service.ts';
import { createGroupCommit } from './commit.ts';
import { migrate } from './migrate.ts';
import { openReads } from './reads/reads.ts';
import type { ReadThread } from './reads/thread.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import { openSqlite, type Engine } from './sqlite.ts';

/** One service's own tables, on either dialect; README.md in this folder says what a store may use on both. */
export interface Database extends AsyncDisposable {
  readonly kysely: Kysely<any>;
  /** What `Context.reads` is; where nothing reads beside the event loop the same as `kysely`. */
  readonly reads: Kysely<any>;
  readonly dialect: 'sqlite' | 'postgres';
  /** Where its file is, which no other process works with; undefined on a server. */
  readonly folder: string | undefined;
  readonly commit: Context['commit'];
  /**
   * Like `commit`, without waiting for the disk: for marks whose loss only repeats work. The end of the process takes
   * nothing back; a power cut may, the last ones first and none from before the last `commit`. What is noted reaches the
   * disk within a second.
   */
  readonly note: Context['commit'];
  /** Like `note`, and does not even wait for the durable group it may have seen; `settling` tells of that. */
  readonly mark: Context['commit'];
  /** For a transaction of `commit`: resolves with true when it is on the disk, with false when it was given up or is in doubt; undefined for any other. */
  readonly settling: (transaction: Kysely<any>) => Promise<boolean> | undefined;
  /**
   * Call once, with all steps that ever were, in order: those of the host's own tables first, then the service's.
   * @throws Problem `database.newer` (409), `database.migration_failed` (500).
   */
  readonly migrate: (migrations: readonly Migration[]) => Promise<void>;
  /**
   * Writes a consistent copy to `file` while writers go on.
   * @throws Problem `database.backup_elsewhere` (501) on PostgreSQL, `database.full` (507); no partial file is left.
   */
  readonly backup: (file: string) => Promise<void>;
}

/**
 * Opens `<folder>/db.sqlite`, or with a `url` the schema `schema` of that PostgreSQL server. All queries throw Problems
 * for faults from outside: `database.full` (507), `database.busy` and `database.unreachable` (503). The disposal waits
 * for the group commit at hand.
 */
export async function openDatabase(options: {
  readonly folder: string;
  readonly schema: string;
  readonly url?: string;
  readonly log: Log;
  /** Reads an SQLite file beside the event loop. */
  readonly readThread?: ReadThread;
  /** Hears of each statement on the event loop. */
  readonly loop?: LoopWatch | undefined;
}): Promise<Database> {
  const { folder, schema, url, log, readThread, loop } = options;
  const engine =
    url === undefined
      ? openSqlite(folder, log, loop === undefined ? undefined : { loop, service: schema })
      : await openServer(url, schema, log);
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
        // A reader that holds on to the file would keep the log from being moved into it.
        if (reads !== engine.kysely) await reads.destroy();
        await group.close();
        await engine.close();
      })()),
  };
}

/** Most installations never speak to a server, and need not load its driver (7 MB). */
async function openServer(url: string, schema: string, log: Log): Promise<Engine> {
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres(url, schema, log);
}
