import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import Database from 'better-sqlite3';
import { pack, type Pack } from 'tar-stream';
import { Problem } from '../../../services/contracts/problem.ts';
import { version } from '../version.ts';
import { isLeftOut, manifestName, measure, type Manifest } from './archive.ts';

/** What was written. */
export interface BackupSummary {
  readonly files: number;
  /** Of the archive. */
  readonly bytes: number;
}

/**
 * Writes the whole data folder into one gzipped tar while the host may be running: databases through SQLite's online
 * backup, before the files they name, so that no row lacks its file. The archive appears under its name only when
 * complete. It holds the vault's key, so only its owner may read it.
 * @throws Problem `backup.target` when the file lies in the data folder or cannot be written.
 */
export async function writeBackup(dataDir: string, file: string): Promise<BackupSummary> {
  const target = resolve(file);
  const root = resolve(dataDir);
  if (target.startsWith(root + sep)) {
    throw new Problem('backup.target', 422, 'Put the backup outside the data folder, best on another disk.');
  }
  const scratch = await mkdtemp(join(tmpdir(), 'homeport-backup-'));
  const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
  try {
    const files: Record<string, { size: number; sha256: string }> = {};
    const tar = pack();
    const written = pipeline(tar, createGzip(), createWriteStream(partial, { mode: 0o600 }));
    const filled = fill(tar, root, scratch, files);
    await Promise.all([
      written,
      filled.catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error)))),
    ]);
    await filled;
    await syncFile(partial);
    await rename(partial, target);
    return { files: Object.keys(files).length, bytes: (await stat(target)).size };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem('backup.target', 507, `The backup could not be written to ${target}: ${reason}`, {
      cause: error,
    });
  } finally {
    await rm(partial, { force: true });
    await rm(scratch, { recursive: true, force: true });
  }
}

async function fill(tar: Pack, root: string, scratch: string, files: Manifest['files']): Promise<void> {
  const paths = await walk(root, root);
  const databases = paths.filter((path) => path.endsWith('.sqlite'));
  for (const path of databases) {
    const copy = join(scratch, 'database.sqlite');
    await copyDatabase(join(root, path), copy);
    await addFile(tar, copy, path, files);
    await rm(copy, { force: true });
  }
  for (const path of paths) {
    if (!/\.sqlite(-wal|-shm|-journal)?$/.test(path)) await addFile(tar, join(root, path), path, files);
  }
  const manifest: Manifest = {
    format: 'homeport-backup',
    formatVersion: 1,
    homeport: version,
    createdAt: new Date().toISOString(),
    files,
  };
  tar.entry({ name: manifestName, mode: 0o600 }, JSON.stringify(manifest));
  tar.finalize();
}

/** Regular files below a folder, as paths with `/`. Links are left out: a restore must not be led elsewhere by one. */
async function walk(root: string, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (folder === root && isLeftOut(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await walk(root, path)));
    else if (entry.isFile()) found.push(relative(root, path).split(sep).join('/'));
  }
  return found;
}

async function copyDatabase(from: string, to: string): Promise<void> {
  const database = new Database(from, { readonly: true, timeout: 10_000 });
  try {
    await database.backup(to);
  } finally {
    database.close();
  }
}

async function addFile(tar: Pack, path: string, name: string, files: Manifest['files']): Promise<void> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    // Removed since the folder was listed: no row of the databases copied before can name it any more for long.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return;
  await handle.close();
  const { size, mode, mtime } = await stat(path);
  const measured = measure();
  const entry = tar.entry({ name, size, mode: mode & 0o777, mtime });
  // A file that grows while it is read is cut at the size its header tells.
  const content = size === 0 ? Readable.from([]) : createReadStream(path, { end: size - 1 });
  await pipeline(content, measured, entry);
  files[name] = measured.found();
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
