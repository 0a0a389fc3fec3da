import { RepeatingTask } from '../../../../services/kit/repeating-task.ts';
import type { BlobStore, StoreEnvironment } from '../blob-store.ts';
import type { S3Settings } from '../s3-settings.ts';
import { S3Blobs } from './s3-blobs.ts';
import { connectS3 } from './s3-connection.ts';
import { S3Monitor } from './s3-monitor.ts';
import { removeStaleUploads } from './stale-uploads.ts';

const cleanupIntervalMs = 6 * 3_600_000;
/** Milliseconds until the first cleanup, which must not slow down the start. */
const firstCleanupMs = 60_000;

/** Opens an S3-compatible store. Its first request is made by the first use. */
export function openS3Store(settings: S3Settings, { clock, log, installation }: StoreEnvironment): BlobStore {
  const connection = connectS3(settings, installation);
  const monitor = new S3Monitor(connection.owner, { clock, log });
  const onError = (error: unknown): void => log.warn('incomplete uploads could not be removed', { error });
  const services = new Set<string>();
  const cleanup = new RepeatingTask(() => removeStaleUploads(connection, services, clock.now()), {
    clock,
    intervalMs: cleanupIntervalMs,
    onError,
  });
  const first = clock.after(firstCleanupMs, () => cleanup.trigger());
  return {
    forService(service, folder) {
      services.add(service);
      return new S3Blobs(connection, service, folder);
    },
    getProblem: () => monitor.getProblem(),
    [Symbol.asyncDispose]: async () => {
      first[Symbol.dispose]();
      await cleanup[Symbol.asyncDispose]();
      connection.client.destroy();
    },
  };
}
