import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import Database from 'better-sqlite3';
import { extract } from 'tar-stream';
import { Problem } from '../../../services/contracts/problem.ts';
import { isDatabase, isExcluded, Manifest, manifestName, measure } from './archive.ts';

const manifestLimit = 256 * 1024 * 1024;

/** Opens the destination of a file by its path and mode. */
type Target = (path: string, mode: number) => Writable;

/**
 * Unpacks a backup into an empty folder and verifies each file's hash and each database's integrity.
 * @throws Problem `backup.damaged`, `backup.missing`.
 */
export async function unpackBackup(file: string, content: string): Promise<Manifest> {
  const manifest = await readVerified(file, (path, mode) => {
    mkdirSync(dirname(join(content, path)), { recursive: true, mode: 0o700 });
    return createWriteStream(join(content, path), { mode, flags: 'wx', flush: true });
  });
  for (const name of Object.keys(manifest.files)) if (isDatabase(name)) checkDatabase(join(content, name), name);
  return manifest;
}

/**
 * Returns the manifest of a backup after verifying each file's hash, without writing anything.
 * @throws Problem `backup.damaged`, `backup.missing`.
 */
export function readBackup(file: string): Promise<Manifest> {
  return readVerified(file, () => new Writable({ write: (_chunk, _encoding, done) => done() }));
}

async function readVerified(file: string, target: Target): Promise<Manifest> {
  await access(file, constants.R_OK).catch((cause: unknown) => {
    throw new Problem('backup.missing', 404, `${file} cannot be read. Nothing was changed.`, { cause });
  });
  const result = new Map<string, { size: number; sha256: string }>();
  let manifest: Manifest | undefined;
  const archive = extract();
  const reading = (async () => {
    for await (const entry of archive) {
      const { name, type, size = 0, mode = 0o600 } = entry.header;
      if (name === manifestName) {
        if (size > manifestLimit) throw buildDamagedProblem('its list of files is too large');
        manifest = Manifest.parse(JSON.parse((await buffer(entry)).toString('utf8')));
        continue;
      }
      if (type !== 'file') throw buildDamagedProblem(`it holds something else than files (${name})`);
      const meter = measure();
      await pipeline(entry, meter, target(safePath(name), mode & 0o700));
      result.set(name, meter.getResult());
    }
  })();
  try {
    await Promise.all([pipeline(createReadStream(file), createGunzip(), archive), reading]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw buildDamagedProblem(error instanceof Error ? error.message : String(error), error);
  }
  if (manifest === undefined) throw buildDamagedProblem('it ends too early');
  verify(manifest, result);
  return manifest;
}

function verify({ files }: Manifest, result: ReadonlyMap<string, { size: number; sha256: string }>): void {
  for (const [name, expected] of Object.entries(files)) {
    const actual = result.get(name);
    if (actual?.sha256 !== expected.sha256 || actual.size !== expected.size)
      throw buildDamagedProblem(`${name} is not what was saved`);
  }
  const unexpectedName = [...result.keys()].find((name) => !Object.hasOwn(files, name));
  if (unexpectedName !== undefined)
    throw buildDamagedProblem(`it holds ${unexpectedName}, which its list does not name`);
}

function safePath(name: string): string {
  const normal = posix.normalize(name);
  const [top = ''] = normal.split('/');
  if (
    normal !== name ||
    name.startsWith('/') ||
    name.includes('\\') ||
    name.includes('\0') ||
    top === '..' ||
    /^[A-Za-z]:/.test(name) ||
    isExcluded(top)
  ) {
    throw buildDamagedProblem(`it holds a file with a forbidden path (${JSON.stringify(name)})`);
  }
  return name;
}

function checkDatabase(path: string, name: string): void {
  const database = new Database(path, { readonly: true });
  try {
    if (database.pragma('integrity_check', { simple: true }) !== 'ok')
      throw buildDamagedProblem(`the database ${name} is corrupt`);
  } finally {
    database.close();
  }
}

function buildDamagedProblem(reason: string, cause?: unknown): Problem {
  return new Problem('backup.damaged', 422, `This backup cannot be restored: ${reason}. Nothing was changed.`, {
    cause,
  });
}
