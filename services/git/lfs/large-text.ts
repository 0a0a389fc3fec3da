import { readFile } from 'node:fs/promises';
import { decodeText } from '../../kit/text-encoding.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { LfsObject, LfsStore } from './lfs-store.ts';

/** Returns the text of a large file, or undefined if it is missing, not text or larger than `maxBytes`. */
export async function readLargeText(
  lfs: Pick<LfsStore, 'findFile'>,
  repository: Repository,
  object: LfsObject,
  maxBytes: number,
): Promise<string | undefined> {
  if (object.size > maxBytes) return undefined;
  const file = await lfs.findFile(repository, object);
  return file === undefined ? undefined : decodeText(await readFile(file))?.text;
}
