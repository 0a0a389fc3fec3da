import * as m from '#messages/host-problems';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { BlobEntry, Blobs } from '../../../services/contracts/blobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { buildDamagedProblem } from './blob-problems.ts';
import type { BlobStore } from './blob-store.ts';

/** Blobs of a service: the folders that its manifest names. */
export interface ServiceBlobs {
  readonly service: string;
  readonly blobs: Blobs;
  readonly folders: readonly string[];
}

/** Number and total size of blobs. */
export interface BlobTotal {
  readonly count: number;
  readonly bytes: number;
}

/** Keys that one request removes. */
const batchSize = 500;

/** Returns the blobs of all services in a store. */
export function listServiceBlobs(
  store: BlobStore,
  dataDir: string,
  descriptors: readonly ServiceDescriptor[],
): readonly ServiceBlobs[] {
  return descriptors.flatMap(({ id, blobs: folders }) =>
    folders === undefined ? [] : [{ service: id, folders, blobs: store.forService(id, join(dataDir, id)) }],
  );
}

/** Counts the blobs of a service. */
export async function countBlobs(source: ServiceBlobs): Promise<BlobTotal> {
  let [count, bytes] = [0, 0];
  for await (const { size } of listEntries(source)) {
    count += 1;
    bytes += size;
  }
  return { count, bytes };
}

/**
 * Moves the blobs of a service to another store. Each one is read back and compared, and the originals are removed when all
 * have been copied. A move that was interrupted is continued by the next one.
 * @throws Problem `blobs.conflict` (409) when the target contains other content, `blobs.damaged` (500)
 */
export async function moveBlobs(source: ServiceBlobs, target: Blobs): Promise<BlobTotal> {
  const copied: string[] = [];
  let bytes = 0;
  for await (const entry of listEntries(source)) {
    await copyBlob(source.blobs, target, entry);
    copied.push(entry.key);
    bytes += entry.size;
  }
  for (let index = 0; index < copied.length; index += batchSize)
    await source.blobs.remove(copied.slice(index, index + batchSize));
  return { count: copied.length, bytes };
}

async function* listEntries({ blobs, folders }: ServiceBlobs): AsyncGenerator<BlobEntry> {
  for (const folder of folders) yield* blobs.list(folder);
}

/** Copies a blob unless an interrupted move did so, and verifies the copy. */
async function copyBlob(source: Blobs, target: Blobs, { key, size }: BlobEntry): Promise<void> {
  const existing = await target.find(key);
  if (existing === undefined) {
    const { sha256 } = await target.write(key, await source.read(key));
    if ((await hashBlob(target, key)) !== sha256) throw buildDamagedProblem();
    return;
  }
  const isSame = existing.size === size && (await hashBlob(target, key)) === (await hashBlob(source, key));
  if (!isSame) throw new Problem('blobs.conflict', 409, () => m.blobConflict({ file: key }), { retryable: false });
}

async function hashBlob(blobs: Blobs, key: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of (await blobs.read(key)) as AsyncIterable<Uint8Array>) hash.update(chunk);
  return hash.digest('hex');
}
