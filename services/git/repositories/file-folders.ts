import { join } from 'node:path';

/** Returns the folder of a repository's LFS objects below the service's folder. */
export function lfsFolder(files: string, folder: string): string {
  return join(files, 'lfs', 'objects', folder.slice(0, 2), folder);
}

/** Returns the folder of the files of a repository's releases and issues below the service's folder. */
export function assetFolder(files: string, folder: string): string {
  return join(files, 'release-assets', folder.slice(0, 2), folder);
}
