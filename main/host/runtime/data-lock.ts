import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { Problem } from '../../../services/contracts/problem.ts';

/** What the running host leaves beside the lock for a second start to find it by. */
const Holder = z.object({
  pid: z.int(),
  /** Address of the app's page, absent while the host is still opening. */
  url: z.string().optional(),
});
type Holder = z.infer<typeof Holder>;

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
 * @throws DataFolderTaken when another process holds it; Problem `host.data_folder` when it cannot be used at all.
 */
export function lockDataFolder(folder: string): DataLock {
  const holderFile = join(folder, 'running.json');
  const write = (holder: Holder): void => {
    writeFileSync(holderFile, JSON.stringify(holder), { mode: 0o600 });
    // A file that a killed process left keeps the mode that it had.
    chmodSync(holderFile, 0o600);
  };
  let database: Database.Database | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    database = openLock(join(folder, 'lock.sqlite'));
    write({ pid: process.pid });
  } catch (error) {
    database?.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) throw new DataFolderTaken(folder, readHolder(holderFile));
    throw unusable(folder, error);
  }
  const held = database;
  return {
    announce: (url) => write({ pid: process.pid, url }),
    [Symbol.dispose]() {
      rmSync(holderFile, { force: true });
      held.close();
    },
  };
}

function openLock(file: string): Database.Database {
  const database = new Database(file, { timeout: 0 });
  try {
    database.pragma('journal_mode = DELETE');
    database.exec('BEGIN EXCLUSIVE');
    // SQLite creates it with the process's mask.
    chmodSync(file, 0o600);
    return database;
  } catch (error) {
    database.close();
    // It holds nothing, so one that a faulty disk has spoilt is made anew; a host that runs holds a whole one.
    if (codeOf(error) !== 'SQLITE_NOTADB') throw error;
    rmSync(file);
    return openLock(file);
  }
}

function unusable(folder: string, error: unknown): Problem {
  const code = codeOf(error);
  const reasons: readonly (readonly [RegExp, string])[] = [
    [/^(EEXIST|ENOTDIR)/, 'it is a file, or lies below one'],
    [/^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_PERM)/, 'this user may not write there'],
    [/^EROFS/, 'the disk is write-protected'],
    [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR)/, 'the disk is full or faulty'],
  ];
  const known = reasons.find(([pattern]) => pattern.test(code))?.[1];
  const reason = known ?? (error instanceof Error ? error.message : String(error));
  return new Problem('host.data_folder', 500, `${folder} cannot be the data folder: ${reason}.`, {
    cause: error,
    retryable: false,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function readHolder(file: string): Holder | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return Holder.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    // Caught in the middle of being written, or not for us to read: the lock itself is what counts.
    return undefined;
  }
}
