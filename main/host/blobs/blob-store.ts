import type { Blobs } from '../../../services/contracts/blobs.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { Text } from '../../../services/contracts/text.ts';

/** Store for the blobs of all services. */
export interface BlobStore extends AsyncDisposable {
  /** Returns the blobs of a service; `folder` is its folder on this computer. */
  forService(service: string, folder: string): Blobs;
  /** Returns the reason why the store is unavailable, or undefined. */
  getProblem(): Text | undefined;
}

/** Dependencies of a store. */
export interface StoreEnvironment {
  readonly clock: Clock;
  readonly log: Log;
  /** Identifies the installation; the same for all hosts that share a database. */
  readonly installation: string;
}
