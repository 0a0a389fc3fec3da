/** Folders among the service's blobs with a subfolder for each repository, below the first two characters of its name. */
export const repositoryBlobFolders = ['lfs/objects', 'release-assets'] as const;

/** Returns the folder of a repository's LFS objects among the service's blobs. */
export function lfsFolder(folder: string): string {
  return `lfs/objects/${folder.slice(0, 2)}/${folder}`;
}

/** Returns the folder of the files of a repository's releases and issues among the service's blobs. */
export function assetFolder(folder: string): string {
  return `release-assets/${folder.slice(0, 2)}/${folder}`;
}
