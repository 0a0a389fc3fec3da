import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of new repositories. */
const namePattern = /^([a-z0-9]{2})[a-z0-9]{18}\.git(\.removed)?$/;
const partPattern = /^[a-z0-9]{2}$/;

/** Folder of a repository, which may have no row. */
export interface RepositoryFolder {
  /** Name of the folder that contains it: the first two characters of its name. */
  readonly part: string;
  readonly name: string;
  /** Deleted repositories are renamed before their folder is removed. */
  readonly isRemoved: boolean;
}

/** Content of the folder with all repositories. */
export interface FolderContent {
  readonly folders: readonly RepositoryFolder[];
  /** Paths of files and folders that are not repositories, relative to the folder. They are never changed. */
  readonly others: readonly string[];
}

/** Returns the path of a repository below the folder with all repositories. */
export function getRelativeFolder(folder: string): string {
  return join(folder.slice(0, 2), `${folder}.git`);
}

/** Lists the folders of repositories that were not removed. Other content of the folder is ignored. */
export async function listRepositoryFolders(
  root: string,
  options: { readonly mayBeMissing: boolean },
): Promise<readonly RepositoryFolder[]> {
  return (await readFolderContent(root, options)).folders.filter(({ isRemoved }) => !isRemoved);
}

/**
 * Reads the content of the folder with all repositories. An administrator can select a folder that contains other
 * files, so only names that the service creates count as repositories.
 * @throws an error with a system code if it cannot be read. A missing folder is empty only with `mayBeMissing`.
 */
export async function readFolderContent(
  root: string,
  { mayBeMissing }: { readonly mayBeMissing: boolean },
): Promise<FolderContent> {
  const folders: RepositoryFolder[] = [];
  const others: string[] = [];
  for (const part of (await readNames(root, mayBeMissing ? ['ENOENT'] : [])) ?? []) {
    // Deletions can remove the folder in the meantime.
    const names = partPattern.test(part) ? await readNames(join(root, part), ['ENOENT', 'ENOTDIR']) : undefined;
    if (names === undefined) others.push(part);
    for (const name of names ?? []) {
      const match = namePattern.exec(name);
      if (match?.[1] === part) folders.push({ part, name, isRemoved: match[2] !== undefined });
      else others.push(join(part, name));
    }
  }
  return { folders, others };
}

/** Reads a folder; undefined if that fails with one of the codes. */
async function readNames(path: string, codes: readonly string[]): Promise<readonly string[] | undefined> {
  try {
    return await readdir(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return undefined;
    throw error;
  }
}
