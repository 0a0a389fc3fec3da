import * as m from '#messages/host-problems';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Problem } from '../../../../services/contracts/problem.ts';
import type { Log, Migration } from '../../../../services/contracts/service.ts';
import { replaceFileSync } from '../../../../services/kit/platform/file-replacement.ts';
import { incompleteMove } from '../migrate.ts';
import { openDatabase } from '../open.ts';
import { getAsideSuffix, hostDatabase, type MoveLock, type MovePlace } from './move-place.ts';
import { migrationsTable, type MoveSide } from './move-side.ts';
import { openSqliteSide } from './sqlite-side.ts';

/** Files with ends of jobs that only a host on SQLite writes to the table. They are empty after a regular stop. */
const journalNames = ['db.ended-1', 'db.ended-2'];

/** SQLite files of a data folder, which the caller has locked. */
export class SqlitePlace implements MovePlace {
  readonly #dataDir: string;
  readonly #log: Log;

  constructor(dataDir: string, log: Log) {
    this.#dataDir = dataDir;
    this.#log = log;
  }

  lock(): Promise<MoveLock> {
    for (const { name } of readdirSync(this.#dataDir, { withFileTypes: true }).filter((each) => each.isDirectory()))
      if (journalNames.some((journal) => getSize(join(this.#dataDir, name, journal)) > 0))
        throw new Problem('database.move_after_crash', 409, m.moveAfterCrash, { retryable: false });
    // The lock of the data folder excludes hosts.
    return Promise.resolve({
      verify: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    });
  }

  exists(id: string): Promise<boolean> {
    return Promise.resolve(existsSync(this.#getFile(id)));
  }

  async migrate(id: string, steps: readonly Migration[]): Promise<void> {
    await using database = await openDatabase({ folder: join(this.#dataDir, id), schema: id, log: this.#log });
    await database.migrate(steps);
  }

  open(id: string, options: { readonly readOnly: boolean }): Promise<MoveSide> {
    return Promise.resolve(openSqliteSide(this.#getFile(id), options));
  }

  isIncomplete(): Promise<boolean> {
    const file = this.#getFile(hostDatabase);
    if (!existsSync(file)) return Promise.resolve(false);
    const database = new Sqlite(file, { readonly: true });
    try {
      const exists = database.prepare('select 1 from sqlite_master where name = ?').get(migrationsTable) !== undefined;
      const find = (): unknown => database.prepare('select 1 from migrations where name = ?').get(incompleteMove);
      return Promise.resolve(exists && find() !== undefined);
    } finally {
      database.close();
    }
  }

  complete(): Promise<void> {
    const database = new Sqlite(this.#getFile(hostDatabase), { fileMustExist: true });
    try {
      database.pragma('synchronous = FULL');
      database.prepare('delete from migrations where name = ?').run(incompleteMove);
    } finally {
      database.close();
    }
    return Promise.resolve();
  }

  setAside(ids: readonly string[]): Promise<void> {
    const suffix = getAsideSuffix();
    for (const id of ids) {
      const file = this.#getFile(id);
      // Another process can have left a write-ahead log, which belongs to the file.
      for (const end of ['-wal', '-shm', ''])
        if (existsSync(file + end)) replaceFileSync(file + end, `${file}.${suffix}${end}`);
    }
    return Promise.resolve();
  }

  #getFile(id: string): string {
    return join(this.#dataDir, id, 'db.sqlite');
  }
}

function getSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
