import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Problem } from '../../services/contracts/problem.ts';

/** What the running host leaves beside the lock for a second start to find it by. */
export interface Holder {
  readonly pid: number;
  /** Address of the app's page, absent while the host is still opening. */
  readonly url?: string;
}

export interface DataLock extends Disposable {
  /** Tells a second start where the app is. */
  announce(url: string): void;
}

/** The data folder belongs to another host that runs. */
export class DataFolderTaken extends Problem {
  readonly holder: Holder | undefined;
  constructor(folder: string, holder: Holder | undefined) {
    const who = holder === undefined ? 'Another Homeport' : `Homeport with process id ${holder.pid}`;
    super(
      'host.data_folder_taken',
      409,
      `${who} is using ${folder}. Stop it first, or give this one its own --data-dir.`,
    );
    this.holder = holder;
  }
}

/**
 * Takes the data folder for this process. The lock is an exclusive SQLite transaction that stays open: the system drops
 * it with the process, so a kill -9 leaves nothing stale behind and a reused process id misleads no one.
 *
 * @throws DataFolderTaken when another process holds it.
 */
export function lockDataFolder(folder: string): DataLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holderFile = join(folder, 'running.json');
  const database = new Database(join(folder, 'lock.sqlite'), { timeout: 0 });
  try {
    database.pragma('journal_mode = DELETE');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new DataFolderTaken(folder, readHolder(holderFile));
    }
    throw error;
  }
  const write = (holder: Holder): void => writeFileSync(holderFile, JSON.stringify(holder), { mode: 0o600 });
  write({ pid: process.pid });
  return {
    announce: (url) => write({ pid: process.pid, url }),
    [Symbol.dispose]() {
      rmSync(holderFile, { force: true });
      database.close();
    },
  };
}

function readHolder(file: string): Holder | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch (error) {
    // Caught in the middle of being written: the lock itself is what counts.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
