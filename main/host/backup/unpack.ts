import * as m from '#messages/host-problems';
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
import { foldName } from '../../../services/kit/platform/file-systems.ts';
import { isDatabase, isExcluded, Manifest, manifestName, measure } from './archive.ts';
import { readNameRules, RestoredNames, type NameRules, type RenamedFile } from './restored-names.ts';

const manifestLimit = 256 * 1024 * 1024;

/** Opens the destination of a file by its path and mode. */
type Target = (path: string, mode: number) => Writable;

/** Backup that was unpacked. */
export interface UnpackedBackup {
  readonly manifest: Manifest;
  /** Files that the system cannot store under their names. */
  readonly renamed: readonly RenamedFile[];
}

/**
 * Unpacks a backup into an empty folder and verifies each file's hash and each database's integrity.
 * @param rules Names that the folder can store, determined by default.
 * @throws Problem `backup.damaged`, `backup.missing`.
 */
export async function unpackBackup(file: string, content: string, rules?: NameRules): Promise<UnpackedBackup> {
  const nameRules = rules ?? (await readNameRules(content));
  const names = new RestoredNames(nameRules);
  const manifest = await readVerified(file, (name, mode) => {
    if (nameRules.ignoresCase) refuseForbidden(name, foldName(name));
    const path = join(content, names.add(name));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return createWriteStream(path, { mode, flags: 'wx', flush: true });
  });
  // Archives of Homeport begin with the databases, so none of them receives another name.
  const renamedDatabase = names.renamed.find(({ name }) => isDatabase(name));
  if (renamedDatabase !== undefined) throw buildDamagedProblem(() => m.damagedTwice({ name: renamedDatabase.name }));
  for (const name of Object.keys(manifest.files)) if (isDatabase(name)) checkDatabase(join(content, name), name);
  return { manifest, renamed: names.renamed };
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
    throw new Problem('backup.missing', 404, () => m.fileUnreadable({ file }), { cause });
  });
  const result = new Map<string, { size: number; sha256: string }>();
  let manifest: Manifest | undefined;
  const archive = extract();
  const reading = (async () => {
    for await (const entry of archive) {
      const { name, type, size = 0, mode = 0o600 } = entry.header;
      if (name === manifestName) {
        if (size > manifestLimit) throw buildDamagedProblem(m.damagedListTooLarge);
        manifest = Manifest.parse(JSON.parse((await buffer(entry)).toString('utf8')));
        continue;
      }
      if (type !== 'file') throw buildDamagedProblem(() => m.damagedNotAFile({ name }));
      const meter = measure();
      await pipeline(entry, meter, target(safePath(name), mode & 0o700));
      result.set(name, meter.getResult());
    }
  })();
  try {
    await Promise.all([pipeline(createReadStream(file), createGunzip(), archive), reading]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw buildDamagedProblem(() => m.damagedUnreadable({ reason }), error);
  }
  if (manifest === undefined) throw buildDamagedProblem(m.damagedIncomplete);
  verify(manifest, result);
  return manifest;
}

function verify({ files }: Manifest, result: ReadonlyMap<string, { size: number; sha256: string }>): void {
  for (const [name, expected] of Object.entries(files)) {
    const actual = result.get(name);
    if (actual?.sha256 !== expected.sha256 || actual.size !== expected.size)
      throw buildDamagedProblem(() => m.damagedChanged({ name }));
  }
  const unexpectedName = [...result.keys()].find((name) => !Object.hasOwn(files, name));
  if (unexpectedName !== undefined) throw buildDamagedProblem(() => m.damagedUnexpected({ name: unexpectedName }));
}

function safePath(name: string): string {
  refuseForbidden(name, name);
  return name;
}

/** @param path Name in the form in which the file system compares it. */
function refuseForbidden(name: string, path: string): void {
  const normal = posix.normalize(path);
  const [top = ''] = normal.split('/');
  if (
    normal !== path ||
    path.startsWith('/') ||
    path.includes('\\') ||
    path.includes('\0') ||
    top === '..' ||
    /^[A-Za-z]:/.test(path) ||
    isExcluded(top)
  ) {
    throw buildDamagedProblem(() => m.damagedPath({ name: JSON.stringify(name) }));
  }
}

function checkDatabase(path: string, name: string): void {
  const database = new Database(path, { readonly: true });
  try {
    if (database.pragma('integrity_check', { simple: true }) !== 'ok')
      throw buildDamagedProblem(() => m.damagedDatabase({ name }));
  } finally {
    database.close();
  }
}

function buildDamagedProblem(reason: () => string, cause?: unknown): Problem {
  return new Problem('backup.damaged', 422, () => m.backupDamaged({ reason: reason() }), { cause });
}
