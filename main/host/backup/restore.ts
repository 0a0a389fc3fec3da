import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import Database from 'better-sqlite3';
import { extract } from 'tar-stream';
import { Problem } from '../../../services/contracts/problem.ts';
import { isDatabase, isLeftOut, Manifest, manifestName, measure, replacedPrefix } from './archive.ts';

const manifestLimit = 256 * 1024 * 1024;

/**
 * Puts a backup in place of the data folder's content. Everything is unpacked beside it and verified (hashes, and each
 * database's own integrity check) before anything is replaced; what was there before stays in a folder of its own.
 * The caller holds the data folder's lock.
 * @returns `former`: where the former content is, undefined when there was none; `tables`: whether the archive holds them.
 * @throws Problem `backup.damaged`, `backup.missing`, `backup.not_empty`.
 */
export async function restoreBackup(
  dataDir: string,
  file: string,
  options: { readonly force: boolean },
): Promise<{ readonly former: string | undefined; readonly tables: Manifest['tables'] }> {
  // What an earlier one that was cut off has set aside must not go with its leftovers.
  finishRestore(dataDir);
  const present = readdirSync(dataDir).filter((name) => !isLeftOut(name));
  if (present.length > 0 && !options.force) {
    throw new Problem(
      'backup.not_empty',
      409,
      `${dataDir} is not empty. Add --force to replace its content; it is kept aside.`,
    );
  }
  const staging = join(dataDir, '.restoring');
  rmSync(staging, { recursive: true, force: true });
  const content = join(staging, 'content');
  mkdirSync(content, { recursive: true, mode: 0o700 });
  let tables: Manifest['tables'];
  try {
    ({ tables } = await unpackVerified(file, content));
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
  writeFileSync(join(staging, 'complete'), String(Date.now()));
  return { former: finishRestore(dataDir), tables };
}

/**
 * The second half of a restore: swaps the contents. Also called at each start, so that a swap that was cut off is
 * finished, and an unpacking that was cut off is thrown away.
 */
export function finishRestore(dataDir: string): string | undefined {
  const staging = join(dataDir, '.restoring');
  if (!existsSync(staging)) return undefined;
  const complete = join(staging, 'complete');
  if (!existsSync(complete)) {
    rmSync(staging, { recursive: true, force: true });
    return undefined;
  }
  const content = join(staging, 'content');
  const former = join(staging, 'former');
  const aside = join(staging, 'set-aside');
  if (!existsSync(aside)) {
    mkdirSync(former, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dataDir)) {
      if (!isLeftOut(name)) renameSync(join(dataDir, name), join(former, name));
    }
    writeFileSync(aside, '');
  }
  // Either is gone when it was cut off behind its last step. What a backup leaves out, the folder has of its own.
  const arriving = existsSync(content) ? readdirSync(content).filter((name) => !isLeftOut(name)) : [];
  for (const name of arriving) renameSync(join(content, name), join(dataDir, name));
  let kept: string | undefined;
  if (existsSync(former) && readdirSync(former).length > 0) {
    kept = join(dataDir, `${replacedPrefix}${new Date().toISOString().replace(/[:.]/g, '-')}`);
    renameSync(former, kept);
  }
  // First of all: without it the rest is leftovers, whatever of them a crash leaves.
  rmSync(complete);
  rmSync(staging, { recursive: true, force: true });
  return kept;
}

async function unpackVerified(file: string, content: string): Promise<Manifest> {
  await access(file, constants.R_OK).catch((cause: unknown) => {
    throw new Problem('backup.missing', 404, `${file} cannot be read. Nothing was changed.`, { cause });
  });
  const found = new Map<string, { size: number; sha256: string }>();
  let manifest: Manifest | undefined;
  const archive = extract();
  const unpacking = (async () => {
    for await (const entry of archive) {
      const { name, type } = entry.header;
      if (name === manifestName) {
        if ((entry.header.size ?? 0) > manifestLimit) throw damaged('its list of files is too large');
        manifest = Manifest.parse(JSON.parse((await buffer(entry)).toString('utf8')));
        continue;
      }
      if (type !== 'file') throw damaged(`it holds something else than files (${name})`);
      const path = safePath(name);
      mkdirSync(dirname(join(content, path)), { recursive: true, mode: 0o700 });
      const measured = measure();
      await pipeline(
        entry,
        measured,
        createWriteStream(join(content, path), {
          mode: (entry.header.mode ?? 0o600) & 0o700,
          flags: 'wx',
          flush: true,
        }),
      );
      found.set(name, measured.found());
    }
  })();
  try {
    await Promise.all([pipeline(createReadStream(file), createGunzip(), archive), unpacking]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw damaged(error instanceof Error ? error.message : String(error), error);
  }
  if (manifest === undefined) throw damaged('it ends too early');
  for (const [name, expected] of Object.entries(manifest.files)) {
    const actual = found.get(name);
    if (actual?.sha256 !== expected.sha256 || actual.size !== expected.size)
      throw damaged(`${name} is not what was saved`);
    if (isDatabase(name)) checkDatabase(join(content, name), name);
  }
  const stranger = [...found.keys()].find((name) => !Object.hasOwn(manifest?.files ?? {}, name));
  if (stranger !== undefined) throw damaged(`it holds ${stranger}, which its list does not name`);
  return manifest;
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
    isLeftOut(top)
  ) {
    throw damaged(`it holds a file with a forbidden path (${JSON.stringify(name)})`);
  }
  return name;
}

function checkDatabase(path: string, name: string): void {
  const database = new Database(path, { readonly: true });
  try {
    if (database.pragma('integrity_check', { simple: true }) !== 'ok') throw damaged(`the database ${name} is corrupt`);
  } finally {
    database.close();
  }
}

function damaged(reason: string, cause?: unknown): Problem {
  return new Problem('backup.damaged', 422, `This backup cannot be restored: ${reason}. Nothing was changed.`, {
    cause,
  });
}
