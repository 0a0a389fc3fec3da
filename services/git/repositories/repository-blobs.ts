import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from '../store/tables.ts';
import { assetFolder, lfsFolder, repositoryBlobFolders } from './file-folders.ts';

type BlobContext = Pick<Context, 'blobs' | 'log'>;

/** Removes the LFS objects and the files of a repository that no longer exists. Never rejects. */
export async function removeRepositoryBlobs({ blobs, log }: BlobContext, folder: string): Promise<void> {
  try {
    for (const each of [lfsFolder(folder), assetFolder(folder)]) await blobs.removeFolder(each);
  } catch (error) {
    // The cleanup at the next start tries again.
    log.warn('files of a repository could not be removed', { error });
  }
}

/** Removes LFS objects and files of repositories that no longer exist. Never rejects. */
export async function removeOrphanedBlobs(context: BlobContext, db: Kysely<Tables>): Promise<void> {
  try {
    const folders = await listFolders(context);
    // Read afterwards: another host may have created a repository and its first files during the listing.
    const rows = await db.selectFrom('repositories').select('folder').execute();
    const existing = new Set(rows.map(({ folder }) => folder));
    for (const folder of folders) if (!existing.has(folder)) await removeRepositoryBlobs(context, folder);
  } catch (error) {
    context.log.warn('files of removed repositories could not be removed', { error });
  }
}

/** Returns the names of the repository folders that contain blobs. */
async function listFolders({ blobs }: BlobContext): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  for (const root of repositoryBlobFolders) {
    for await (const { key } of blobs.list(root)) {
      const [, folder] = key.slice(root.length + 1).split('/');
      if (folder !== undefined) folders.add(folder);
    }
  }
  return folders;
}
