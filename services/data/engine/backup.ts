import { chmod, chown, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import type { Database } from './database.ts';
import { exists } from './exists.ts';
import { owner } from './process-user.ts';

const name = 'cluster';
/** An archive keeps files alone, and PostgreSQL wants its empty folders too. */
const list = 'folders.json';
/** What a running server leaves behind, and nobody starts from. */
const transient = /(?:^|\/)(?:postmaster\.pid|\.s\.PGSQL\.\d+(?:\.lock)?)$/;

/** Saves the files of the cluster while nothing runs on them; requests wait for so long. */
export async function backUp(database: Database, target: string): Promise<void> {
  const { folder } = database;
  if (folder === undefined) return;
  await database.whileAsleep(async () => {
    if (!(await exists(join(folder, 'PG_VERSION')))) return;
    await cp(folder, join(target, name), { recursive: true, filter: (path) => !transient.test(path) });
    const all = await readdir(folder, { recursive: true, withFileTypes: true });
    const folders = all
      .filter((each) => each.isDirectory())
      .map((each) => relative(folder, join(each.parentPath, each.name)));
    await writeFile(join(target, list), JSON.stringify(folders));
  });
}

/** Puts back what {@link backUp} saved, in the place of what is there. */
export async function restore(folder: string | undefined, saved: string): Promise<void> {
  const from = join(saved, name);
  if (folder === undefined || !(await exists(from))) return;
  const fresh = `${folder}.restored`;
  await rm(fresh, { recursive: true, force: true });
  await cp(from, fresh, { recursive: true });
  const folders = z.array(z.string()).parse(JSON.parse(await readFile(join(saved, list), 'utf8')));
  for (const each of folders) await mkdir(join(fresh, each), { recursive: true });
  await own(fresh);
  await rm(folder, { recursive: true, force: true });
  await rename(fresh, folder);
}

/** PostgreSQL refuses files that others may read. */
async function own(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory();
  await chmod(path, isFolder ? 0o700 : 0o600);
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  if (isFolder) for (const each of await readdir(path)) await own(join(path, each));
}
