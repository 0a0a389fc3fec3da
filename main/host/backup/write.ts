import * as m from '#messages/host-problems';
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import Database from 'better-sqlite3';
import { pack, type Pack } from 'tar-stream';
import { removeTree, replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import { temporaryBlobsFolder } from '../../../services/contracts/blobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { version } from '../runtime/version.ts';
import { isBesideDatabase, isDatabase, isExcluded, manifestName, measure, type Manifest } from './archive.ts';
import type { ThreadProblem } from './thread-problem.ts';

/** Result of writing a backup. */
export interface BackupSummary {
  readonly files: number;
  /** Size of the archive. */
  readonly bytes: number;
}

/** Backup to write in a thread. */
export interface BackupJob {
  readonly dataDir: string;
  readonly file: string;
  readonly tables: Manifest['tables'];
  /** Creation time that the archive states, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Content of `vault.key` in the archive, with the key itself instead of a form that only this desktop can open. */
  readonly keyFile?: string | undefined;
  readonly parts: readonly Omit<ServicePart, 'write'>[];
}

/** Message of the thread: the result, or before it a request that a service writes its part into a folder. */
export type BackupOutcome =
  | { readonly part: string; readonly folder: string }
  | { readonly summary: BackupSummary }
  | { readonly problem: ThreadProblem };

/**
 * Writes the whole data folder into one gzipped tar while the host may be running: databases through SQLite's online
 * backup, before the files they refer to, so that no row lacks its file. The archive gets its name only when
 * complete. It contains the vault's key, so only its owner may read it. `tables: 'elsewhere'` marks an archive
 * without tables, which are on a database server.
 * @throws Problem `backup.target` when the file is in the data folder or cannot be written, `backup.source` when
 * there is nothing to save or a database is damaged.
 */
export async function writeBackup(
  dataDir: string,
  file: string,
  { tables = 'here', createdAt = Date.now(), keyFile, parts = [] }: Partial<BackupContent> = {},
): Promise<BackupSummary> {
  const target = resolve(file);
  const root = resolve(dataDir);
  if (target.startsWith(root + sep)) {
    throw new Problem('backup.target', 422, m.backupInsideDataFolder);
  }
  await refuseNothing(root);
  const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
  // The destination has enough space for a database; a temporary folder is often small.
  let scratch: string | undefined;
  try {
    scratch = await mkdtemp(`${partial}-`);
    const files: Record<string, { size: number; sha256: string }> = {};
    const tar = pack();
    const result = pipeline(tar, createGzip(), createWriteStream(partial, { mode: 0o600 }));
    const filled = fill(tar, root, { scratch, tables, createdAt, keyFile, parts }, files);
    await Promise.all([
      result,
      filled.catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error)))),
    ]);
    await filled;
    await syncFile(partial);
    await replaceFile(partial, target);
    return { files: Object.keys(files).length, bytes: (await stat(target)).size };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem('backup.target', 507, () => m.backupNotWritten({ target, reason }), {
      cause: error,
    });
  } finally {
    await rm(partial, { force: true });
    if (scratch !== undefined) await removeTree(scratch);
  }
}

/** Content of an archive in addition to the data folder. */
interface BackupContent extends Pick<BackupJob, 'tables' | 'createdAt' | 'keyFile'> {
  readonly parts: readonly ServicePart[];
}

/** Part that a running service backs up itself. */
export interface ServicePart {
  readonly id: string;
  /** Names in its folder that are not copied. */
  readonly excludedFromCopy: readonly string[];
  readonly write: (folder: string) => Promise<void>;
}

/** Reply to the request. */
export interface ServicePartWritten {
  readonly failure: unknown;
}

/** Name of the vault's key in the data folder. */
const keyFileName = 'vault.key';

/** Folder in a service's part of the archive with the files that it wrote itself. */
export const servicePartName = '.backup';

async function refuseNothing(root: string): Promise<void> {
  const names = await readdir(root).catch((cause: unknown) => {
    throw new Problem('backup.source', 404, () => m.dataFolderUnreadable({ root }), { cause });
  });
  if (names.every(isExcluded)) throw new Problem('backup.source', 404, () => m.dataFolderEmpty({ root }));
}

async function fill(
  tar: Pack,
  root: string,
  content: BackupContent & { readonly scratch: string },
  files: Manifest['files'],
): Promise<void> {
  const { scratch, tables, createdAt, keyFile, parts } = content;
  const excludedPaths = parts.flatMap(({ id, excludedFromCopy: names }) => names.map((name) => `${id}/${name}`));
  const paths = (await walk(root, root)).filter(
    (path) =>
      !path.split('/').slice(1, 3).includes(temporaryBlobsFolder) &&
      !excludedPaths.some((each) => path === each || path.startsWith(`${each}/`)),
  );
  const databases = paths.filter(isDatabase);
  for (const path of databases) {
    const copy = join(scratch, 'database.sqlite');
    await copyDatabase(join(root, path), copy);
    await addFile(tar, copy, path, files);
    await rm(copy, { force: true });
  }
  for (const path of paths) {
    if (isDatabase(path) || isBesideDatabase(path) || (path === keyFileName && keyFile !== undefined)) continue;
    await addFile(tar, join(root, path), path, files);
  }
  if (keyFile !== undefined) addText(tar, keyFileName, keyFile, files);
  for (const { id, write } of parts) {
    const folder = join(scratch, id);
    await mkdir(folder);
    await write(folder);
    for (const path of await walk(folder, folder)) {
      await addFile(tar, join(folder, path), `${id}/${servicePartName}/${path}`, files);
    }
    await removeTree(folder);
  }
  const manifest: Manifest = {
    format: 'homeport-backup',
    formatVersion: 1,
    homeport: version,
    createdAt: new Date(createdAt).toISOString(),
    tables,
    files,
  };
  tar.entry({ name: manifestName, mode: 0o600 }, JSON.stringify(manifest));
  tar.finalize();
}

/** Lists regular files below a folder, as paths with `/`. Links are omitted, so that a restore cannot be redirected. */
async function walk(root: string, folder: string): Promise<string[]> {
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // A running service removes temporary folders.
    if (error.code === 'ENOENT' && folder !== root) return [];
    throw error;
  });
  for (const entry of entries) {
    if (folder === root && isExcluded(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await walk(root, path)));
    else if (entry.isFile()) files.push(relative(root, path).split(sep).join('/'));
  }
  return files;
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const database = new Database(from, { readonly: true, timeout: 10_000 });
  try {
    // In a single step: in WAL mode that blocks no writer, while a write between two steps would restart the backup.
    await database.backup(to, { progress: () => 0x7fff_ffff });
  } catch (error) {
    const isDamaged = error instanceof Database.SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code);
    if (!isDamaged) throw error;
    const detail = (): string => m.backupDatabaseDamaged({ from });
    throw new Problem('backup.source', 500, detail, { cause: error, retryable: false });
  } finally {
    database.close();
  }
}

/** Adds a private file with a text. */
function addText(tar: Pack, name: string, text: string, files: Manifest['files']): void {
  tar.entry({ name, mode: 0o600 }, text);
  const content = Buffer.from(text);
  files[name] = { size: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

async function addFile(tar: Pack, path: string, name: string, files: Manifest['files']): Promise<void> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    // Removed since the listing: rows of the previously copied databases do not refer to it for much longer.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return;
  // One handle for both, so that the size belongs to the file that is read.
  await using opened = handle;
  const { size, mode, mtime } = await opened.stat();
  const measured = measure();
  const entry = tar.entry({ name, size, mode: mode & 0o777, mtime });
  await pipeline(Readable.from(limitToSize(opened, size)), measured, entry);
  files[name] = measured.getResult();
}

/**
 * Reads exactly `size` bytes of a file that may change in the meantime: truncated, or padded with zeros, as its
 * header states.
 */
async function* limitToSize(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  let remaining = size;
  while (remaining > 0) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(remaining, 64 * 1024)));
    if (bytesRead === 0) break;
    remaining -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  for (; remaining > 0; remaining -= Math.min(remaining, 64 * 1024)) yield Buffer.alloc(Math.min(remaining, 64 * 1024));
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
