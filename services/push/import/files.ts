import { lstat } from 'node:fs/promises';
import { createReadStream, existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Blobs } from '../../contracts/blobs.ts';
import { getAttachmentKey } from '../attachments/attachments.ts';
import type { StoredFile } from '../domain/message.ts';

/**
 * Finds the attachment folder of an ntfy server: as configured, or, when the data was copied from another computer,
 * under the same name next to its databases.
 */
export function findAttachments(folder: string, configured: string | undefined): string | undefined {
  const candidates = configured === undefined ? [] : [resolve(folder, configured), join(folder, basename(configured))];
  return [...candidates, join(folder, 'attachments'), join(folder, 'attach')].find((candidate) =>
    existsSync(candidate),
  );
}

/**
 * Copies an attachment to the blobs of this service. Returns false when it does not exist with the recorded size.
 */
export async function importFile(
  blobs: Blobs,
  sourceFolder: string | undefined,
  { id, size }: StoredFile,
): Promise<boolean> {
  if (sourceFolder === undefined) return false;
  const source = join(sourceFolder, id);
  const stats = await lstat(source).catch(() => undefined);
  // Symbolic links are rejected, because they could publish any file of this computer.
  if (stats?.isFile() !== true || stats.size !== size) return false;
  // A repeated import finds the file of the first one.
  await blobs.write(getAttachmentKey(id), createReadStream(source), { contentSize: size });
  return true;
}
