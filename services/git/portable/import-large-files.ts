import * as m from '#messages/git-problems';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { LfsStore } from '../lfs/lfs-store.ts';
import { buildInvalidBackupProblem } from './invalid-backup.ts';
import type { RepositoryRecord } from './record.ts';

/**
 * Stores the large files of an extracted backup. Each file is opened first, because nothing would handle the error of a
 * stream whose file is missing.
 * @throws Problem 422 for a missing file.
 */
export async function importLargeFiles(
  lfs: LfsStore,
  repository: Parameters<LfsStore['receive']>[0],
  folder: string,
  largeFiles: RepositoryRecord['largeFiles'],
): Promise<void> {
  for (const lfsObject of largeFiles) {
    const name = `lfs-${lfsObject.oid}`;
    await using file = await open(join(folder, name)).catch((cause: unknown) => {
      throw buildInvalidBackupProblem(m.backupFileMissing({ file: name }), cause);
    });
    await lfs.receive(repository, lfsObject, file.createReadStream({ autoClose: false }));
  }
}
