import { copyFile, lstat, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { attachmentsFolder } from '../attachments/attachments.ts';
import type { HeldFile } from '../domain/message.ts';

/**
 * Where the peer keeps files: as its settings have it, or, when the folder was brought from another machine, under that name
 * beside its databases. Undefined when there is no such folder.
 */
export function findAttachments(folder: string, configured: string | undefined): string | undefined {
  const places = configured === undefined ? [] : [resolve(folder, configured), join(folder, basename(configured))];
  return [...places, join(folder, 'attachments'), join(folder, 'attach')].find((place) => existsSync(place));
}

/** Copies the file of a message into our own folder; false when it is not there as the peer recorded it. */
export async function takeFile(files: string, from: string | undefined, { id, size }: HeldFile): Promise<boolean> {
  if (from === undefined) return false;
  const source = join(from, id);
  const found = await lstat(source).catch(() => undefined);
  // A link would lead to whatever file its maker liked to publish.
  if (found?.isFile() !== true || found.size !== size) return false;
  const target = attachmentsFolder(files);
  await mkdir(target, { recursive: true, mode: 0o700 });
  await copyFile(source, join(target, id));
  return true;
}
