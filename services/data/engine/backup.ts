import * as m from '#messages/data-problems';
import { chmod, chown, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { moveFolder, removeTree } from '../../kit/platform/file-replacement.ts';
import { majorVersion } from './cluster-version.ts';
import type { Database } from './database.ts';
import { exists } from './exists.ts';
import { processUser } from './process-user.ts';

const clusterFolderName = 'cluster';
/** File that lists all folders: archives contain only files, and PostgreSQL needs its empty folders. */
const folderListName = 'folders.json';
/** Files of a running server that must not be restored. */
const transientFiles = /(?:^|[\\/])(?:postmaster\.pid|\.s\.PGSQL\.\d+(?:\.lock)?)$/;
/** Kind of shared memory: `posix` or `windows`. Without the setting, the server uses that of its system. */
const systemSettings = /^\s*dynamic_shared_memory_type\b/;

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
      .map((each) => relative(folder, join(each.parentPath, each.name)).replaceAll('\\', '/'));
    await writeFile(join(target, folderListName), JSON.stringify(folders));
  });
}

/**
 * Restores the files that {@link backUp} copied and replaces the existing cluster. The files may come from another
 * operating system or processor: their format is the same on all systems with PostgreSQL programs of Homeport, and sort
 * orders do not depend on the system (decision 0242).
 * @throws Problem `data.backup_version` (503) for files of another major version. The existing cluster is preserved.
 */
export async function restore(folder: string | undefined, backupFolder: string): Promise<void> {
  const source = join(backupFolder, clusterFolderName);
  if (folder === undefined || !(await exists(source))) return;
  await checkVersion(source);
  const temporary = `${folder}.restored`;
  await removeTree(temporary);
  await cp(source, temporary, { recursive: true });
  for (const each of await readFolderList(backupFolder)) await mkdir(join(temporary, each), { recursive: true });
  await removeSystemSettings(join(temporary, 'postgresql.conf'));
  await restrictAccess(temporary);
  await removeTree(folder);
  await moveFolder(temporary, folder);
}

/** Returns the folders of the cluster as relative paths. Earlier versions wrote them with backslashes on Windows. */
async function readFolderList(backupFolder: string): Promise<readonly string[]> {
  const text = await readFile(join(backupFolder, folderListName), 'utf8');
  const folders = z.array(z.string()).parse(JSON.parse(text));
  return folders.map((each) => {
    const parts = each.split(/[\\/]/);
    if (parts.some((part) => part === '..' || part.includes(':')))
      throw new Problem('data.backup_path', 503, () => m.backupFolderInvalid({ path: each }));
    return join(...parts);
  });
}

/** PostgreSQL does not start with files of another major version. */
async function checkVersion(source: string): Promise<void> {
  const version = (await readFile(join(source, 'PG_VERSION'), 'utf8')).trim();
  if (version === majorVersion) return;
  throw new Problem('data.backup_version', 503, () => m.backupVersionDiffers({ version, majorVersion }));
}

/**
 * Removes the settings that initdb derived from the system on which the cluster was created. The server does not start
 * with the value of another system, even if the command line contains the setting.
 */
async function removeSystemSettings(file: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split(/\r?\n/);
  await writeFile(file, lines.filter((line) => !systemSettings.test(line)).join('\n'));
}

/** Sets owner and permissions. PostgreSQL refuses files that other users can read. */
async function restrictAccess(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory();
  await chmod(path, isFolder ? 0o700 : 0o600);
  if (processUser !== undefined) await chown(path, processUser.uid, processUser.gid);
  if (isFolder) for (const each of await readdir(path)) await restrictAccess(join(path, each));
}
