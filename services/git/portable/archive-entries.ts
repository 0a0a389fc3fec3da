import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';
import type { Blobs } from '../../contracts/blobs.ts';

/** Adds a file to the archive. Returns false if it does not exist. */
export async function addFile(tar: Pack, name: string, path: string): Promise<boolean> {
  const file = await open(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  await using handle = file;
  const { size } = await handle.stat();
  await new Promise<void>((resolve, reject) => {
    const entry = tar.entry({ name, size }, (error) => (error ? reject(error) : resolve()));
    pipeline(handle.createReadStream({ end: Math.max(0, size - 1), autoClose: false }), entry).catch(reject);
  });
  return true;
}

/** Adds a blob to the archive. Returns false if it does not exist. */
export async function addBlob(tar: Pack, name: string, blobs: Blobs, key: string): Promise<boolean> {
  const size = (await blobs.find(key))?.size;
  if (size === undefined) return false;
  const content = await blobs.read(key);
  await new Promise<void>((resolve, reject) => {
    const entry = tar.entry({ name, size }, (error) => (error ? reject(error) : resolve()));
    pipeline(content, entry).catch(reject);
  });
  return true;
}
