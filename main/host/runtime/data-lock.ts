import { readText } from '../../../services/contracts/text.ts';
import * as m from '#messages/host-problems';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { Problem } from '../../../services/contracts/problem.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';

/** Information about the running host for a second start, stored beside the lock. */
const Holder = z.object({
  pid: z.int(),
  /** Address of the app's page; absent while the host is opening. */
  url: z.string().optional(),
  /** Addresses of the pages that accept one-time links. */
  oneTimeLinkPages: z.array(z.string()).optional(),
});
type Holder = z.infer<typeof Holder>;

export interface DataLock extends Disposable {
  /** Stores the address of the app for a second start, and its pages for one-time links for commands. */
  announce(url: string, oneTimeLinkPages: readonly string[]): void;
}

/** Thrown when another running host uses the data folder. */
export class DataFolderTaken extends Problem {
  readonly holder: Holder | undefined;
  constructor(folder: string, holder: Holder | undefined) {
    const detail = (): string =>
      holder === undefined ? m.dataFolderInUse({ folder }) : m.dataFolderInUseBy({ folder, pid: String(holder.pid) });
    super('host.data_folder_taken', 409, detail);
    this.holder = holder;
  }
}

/**
 * Locks the data folder for this process. The lock is an open exclusive SQLite transaction: the system releases it
 * with the process, so it cannot become stale after a kill -9, and reused process ids do not matter.
 * @throws DataFolderTaken when another process has it; Problem `host.data_folder` when it cannot be used at all.
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
    if (getErrorCode(error).startsWith('SQLITE_BUSY')) throw new DataFolderTaken(folder, readHolder(holderFile));
    throw buildUnusableProblem(folder, error);
  }
  const isLocked = database;
  return {
    announce: (url, oneTimeLinkPages) => write({ pid: process.pid, url, oneTimeLinkPages: [...oneTimeLinkPages] }),
    [Symbol.dispose]() {
      rmSync(holderFile, { force: true });
      isLocked.close();
    },
  };
}

function openLock(file: string): Database.Database {
  const database = new Database(file, { timeout: 0 });
  try {
    database.pragma('journal_mode = DELETE');
    database.exec('BEGIN EXCLUSIVE');
    // SQLite creates it with the process's umask.
    chmodSync(file, 0o600);
    return database;
  } catch (error) {
    database.close();
    // The file has no content, so a damaged one is recreated; the file of a running host is intact.
    if (getErrorCode(error) !== 'SQLITE_NOTADB') throw error;
    rmSync(file);
    return openLock(file);
  }
}

function buildUnusableProblem(folder: string, error: unknown): Problem {
  const code = getErrorCode(error);
  const reasons: readonly (readonly [RegExp, () => string])[] = [
    [/^(EEXIST|ENOTDIR)/, m.reasonFile],
    [/^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_READONLY|SQLITE_PERM)/, m.reasonDenied],
    [/^EROFS/, m.reasonReadOnly],
    [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR)/, m.reasonDisk],
  ];
  const holder = reasons.find(([pattern]) => pattern.test(code))?.[1];
  const reason = holder ?? (error instanceof Error ? error.message : String(error));
  return new Problem('host.data_folder', 500, () => m.dataFolderUnusable({ folder, reason: readText(reason) }), {
    cause: error,
    retryable: false,
  });
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function readHolder(file: string): Holder | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return Holder.safeParse(parseJson(readFileSync(file, 'utf8'))).data;
  } catch {
    // Incomplete or unreadable: only the lock itself matters.
    return undefined;
  }
}
