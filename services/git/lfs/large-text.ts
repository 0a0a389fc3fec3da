import { buffer } from 'node:stream/consumers';
import { decodeText } from '../../kit/text-encoding.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { LfsObject, LfsStore } from './lfs-store.ts';

/** Returns the text of a large file, or undefined if it is missing, not text or larger than `maxBytes`. */
export async function readLargeText(
  lfs: Pick<LfsStore, 'findKey' | 'read'>,
  repository: Repository,
  object: LfsObject,
  maxBytes: number,
): Promise<string | undefined> {
  if (object.size > maxBytes) return undefined;
  if ((await lfs.findKey(repository, object)) === undefined) return undefined;
  return decodeText(await buffer(await lfs.read(repository, object.oid)))?.text;
}
