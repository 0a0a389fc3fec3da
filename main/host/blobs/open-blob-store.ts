import { join } from 'node:path';
import { temporaryBlobsFolder } from '../../../services/contracts/blobs.ts';
import type { ServiceDescriptor, Vault } from '../../../services/contracts/service.ts';
import { removeTree } from '../../../services/kit/platform/file-replacement.ts';
import type { HostSettings } from '../config/host-settings.ts';
import type { BlobStore, StoreEnvironment } from './blob-store.ts';
import { LocalBlobs } from './local-blobs.ts';
import { readS3Settings, type S3Settings } from './s3-settings.ts';

/** Store in the data folder. */
export function openLocalStore(): BlobStore {
  return {
    forService: (_service, folder) => new LocalBlobs(folder),
    getProblem: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/**
 * Opens the store that the settings name. The client of S3 is loaded only when it is used.
 * @throws Problem `blobs.settings` (422)
 */
export async function openBlobStore(host: HostSettings, environment: StoreEnvironment): Promise<BlobStore> {
  const settings = await readS3Settings(host);
  return settings === undefined ? openLocalStore() : await openRemoteStore(settings, environment);
}

/** Opens an S3-compatible store. */
export async function openRemoteStore(settings: S3Settings, environment: StoreEnvironment): Promise<BlobStore> {
  const { openS3Store } = await import('./s3/open-s3-store.ts');
  return openS3Store(settings, environment);
}

/** Returns the identity of an installation, whose hosts share the vault's key. It reveals nothing about the key. */
export function getInstallation(vault: Vault): string {
  return vault.fingerprint('blob store', 'host.blobs');
}

/** Removes incomplete files that a killed host left behind. Only for the process that uses the data folder. */
export async function removeIncomplete(dataDir: string, descriptors: readonly ServiceDescriptor[]): Promise<void> {
  for (const { id, blobs = [] } of descriptors) {
    const parents = new Set(['', ...blobs.map((folder) => folder.split('/', 1)[0] ?? '')]);
    for (const parent of parents) await removeTree(join(dataDir, id, parent, temporaryBlobsFolder));
  }
}
