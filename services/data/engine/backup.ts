import { chmod, chown, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { moveFolder, removeTree } from '../../kit/platform/file-replacement.ts';
import type { Database } from './database.ts';
import { exists } from './exists.ts';
import { processUser } from './process-user.ts';

const clusterFolderName = 'cluster';
/** File that lists all folders: archives contain only files, and PostgreSQL needs its empty folders. */
const folderListName = 'folders.json';
/** Files of a running server that must not be restored. */
const transientFiles = /(?:^|\/)(?:postmaster\.pid|\.s\.PGSQL\.\d+(?:\.lock)?)$/;

/** Copies the files of the cluster while PostgreSQL is stopped. Requests wait until the copy is complete. */
export async function backUp(database: Database, target: string): Promise<void> {
  const { folder } = database;
  if (folder === undefined) return;
  await database.whileStopped(async () => {
    if (!(await exists(join(folder, 'PG_VERSION')))) return;
    await cp(folder, join(target, clusterFolderName), {
      recursive: true,
      filter: (path) => !transientFiles.test(path),
    });
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const folders = entries
      .filter((each) => each.isDirectory())
      .map((each) => relative(folder, join(each.parentPath, each.name)));
    await writeFile(join(target, folderListName), JSON.stringify(folders));
  });
}

/** Restores the files that {@link backUp} copied and replaces the existing cluster. */
export async function restore(folder: string | undefined, backupFolder: string): Promise<void> {
  const source = join(backupFolder, clusterFolderName);
  if (folder === undefined || !(await exists(source))) return;
  const temporary = `${folder}.restored`;
  await removeTree(temporary);
  await cp(source, temporary, { recursive: true });
  const folders = z.array(z.string()).parse(JSON.parse(await readFile(join(backupFolder, folderListName), 'utf8')));
  for (const each of folders) await mkdir(join(temporary, each), { recursive: true });
  await restrictAccess(temporary);
  await removeTree(folder);
  await moveFolder(temporary, folder);
}

/** Sets owner and permissions. PostgreSQL refuses files that other users can read. */
async function restrictAccess(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory();
  await chmod(path, isFolder ? 0o700 : 0o600);
  if (processUser !== undefined) await chown(path, processUser.uid, processUser.gid);
  if (isFolder) for (const each of await readdir(path)) await restrictAccess(join(path, each));
}
