import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { Context } from '../../contracts/service.ts';
import { linkOrCopy } from '../../kit/hard-links.ts';
import type { Git } from '../engine/git.ts';
import type { Tables } from '../store/tables.ts';
import { readReferences, readSize } from './references.ts';
import { getRestoreMarker, restoreMarkerName } from './repositories-folder.ts';
import { listRepositoryFolders, readFolderContent } from './repository-folders.ts';

const rootFolder = 'repositories';
const branchPrefix = 'refs/heads/';

/** Folders that {@link backupRepositories} saves, excluded from the general copy because they change during it. */
export const excludedFolders: readonly string[] = [rootFolder, restoreMarkerName];

export interface BackupDependencies {
  readonly context: Pick<Context, 'commit' | 'db' | 'files' | 'log'>;
  readonly git: Git;
}

/** Folder with all repositories. */
export interface RepositoriesSource {
  readonly root: string;
  /** A folder in the data folder does not exist before the first repository. */
  readonly mayBeMissing: boolean;
}

/**
 * Saves all repositories while pushes may continue. The references of a repository are read before its objects are
 * copied: all objects that they refer to already exist, and objects are never deleted.
 */
export async function backupRepositories(
  { git, ...folders }: RepositoriesSource & { readonly git: Git },
  target: string,
): Promise<void> {
  const { root } = folders;
  for (const { part, name } of await listRepositoryFolders(root, folders)) {
    const source = join(root, part, name);
    const folder = join(target, rootFolder, part, name);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const head = await readFile(join(source, 'HEAD'));
      const references = await readReferences(git, source, 'refs/');
      await writeFile(join(folder, 'packed-refs'), references.map(({ id, ref }) => `${id} ${ref}\n`).join(''));
      await writeFile(join(folder, 'HEAD'), head);
      await copyFile(join(source, 'config'), join(folder, 'config'));
      await linkObjects(join(source, 'objects'), join(folder, 'objects'));
    } catch (error) {
      const isRemoved = (await readdir(source).catch(() => [])).length === 0;
      if (!isRemoved) throw error;
      // The repository was removed during the backup.
      await removeTree(folder);
    }
  }
}

/** Copies all repositories while no push can change them. */
export async function copyRepositories(source: RepositoriesSource, target: string): Promise<void> {
  for (const { part, name } of await listRepositoryFolders(source.root, source)) {
    await cp(join(source.root, part, name), join(target, rootFolder, part, name), { recursive: true });
  }
}

/** Restores the repositories that {@link backupRepositories} saved. */
export async function restoreRepositories(
  { files, root }: { readonly files: string; readonly root: string },
  source: string,
): Promise<void> {
  await writeFile(getRestoreMarker(files), '');
  // The marker of the folder and other files remain.
  for (const { part, name } of (await readFolderContent(root, { mayBeMissing: true })).folders)
    await removeTree(join(root, part, name));
  for (const { part, name } of await listRepositoryFolders(join(source, rootFolder), { mayBeMissing: true })) {
    const target = join(root, part, name);
    await cp(join(source, rootFolder, part, name), target, { recursive: true });
    // Git does not recognize a repository without these folders, and archives contain no empty folders.
    for (const folder of ['refs', 'objects']) await mkdir(join(target, folder), { recursive: true, mode: 0o700 });
  }
}

/**
 * Updates the tables after a restore. They were saved before the repositories and may be out of date. Call it before
 * any other access to repositories.
 */
export async function reconcileRestored(
  { context, git }: BackupDependencies,
  folder: (row: { folder: string }) => string,
): Promise<void> {
  const marker = getRestoreMarker(context.files);
  if ((await readFile(marker).catch(() => undefined)) === undefined) return;
  const rows = await (context.db as Kysely<Tables>)
    .selectFrom('repositories')
    .select(['id', 'folder', 'default_branch'])
    .execute();
  for (const row of rows) {
    const path = folder(row);
    const head = await readHead(path);
    if (head === undefined) {
      await context.commit((transaction: Kysely<Tables>) =>
        transaction.deleteFrom('repositories').where('id', '=', row.id).execute(),
      );
      context.log.warn('repository removed during backup was dropped', { repository: row.id });
      continue;
    }
    const branches = await readReferences(git, path, branchPrefix);
    const default_branch = /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1] ?? row.default_branch;
    const size = await readSize(git, path);
    await context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable('repositories')
        .set({ branch_count: branches.length, empty: Number(branches.length === 0), default_branch, size })
        .where('id', '=', row.id)
        .execute(),
    );
  }
  await rm(marker, { force: true });
}

/** Reads the reference of the default branch; undefined if the repository does not exist. */
async function readHead(path: string): Promise<string | undefined> {
  return readFile(join(path, 'HEAD'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    // A repository that cannot be read at the moment still exists.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * Hard-links objects if the file system supports it, because they never change. Temporary files of pushes are skipped.
 */
async function linkObjects(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name);
    const to = join(target, entry.name);
    if (entry.name.startsWith('tmp_') || entry.name.endsWith('.lock')) continue;
    if (entry.isDirectory()) await linkObjects(from, to);
    else await linkOrCopy(from, to);
  }
}
