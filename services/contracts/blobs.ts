import type { Readable } from 'node:stream';

/** Folder with incomplete and temporary files, in the service's folder or in one of its folders. Backups do not contain it. */
export const temporaryBlobsFolder = '.incoming';

/** Stored blob. */
export interface BlobEntry {
  /** Path below the service's part of the store, with `/`: `attachments/2fYq…`. */
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Time of the write in ms since the epoch. */
  readonly modifiedAt: number;
}

/** Byte range with inclusive bounds. */
export interface BlobRange {
  readonly start: number;
  readonly end: number;
}

/** Expected content of a write. */
export interface WriteBlobOptions {
  /** Expected SHA-256 in hexadecimal. Other content is refused before it becomes visible. */
  readonly sha256?: string | undefined;
  /**
   * Size of a blob whose key names its content, such as a hash. An existing blob of this size is kept, and one of another
   * size is replaced. Without it an existing blob is never replaced.
   */
  readonly contentSize?: number | undefined;
  /** Replaces an existing blob of the size `contentSize`, too, because its content is damaged. */
  readonly isRepair?: boolean | undefined;
}

/** Result of a write. */
export interface WrittenBlob {
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Part of a blob, or its expected content. */
export interface ReadBlobOptions {
  readonly range?: BlobRange | undefined;
  /** Expected SHA-256 in hexadecimal. The stream of a complete blob with other content fails before its end. */
  readonly sha256?: string | undefined;
}

/** Response headers of a direct download. */
export interface BlobLinkOptions {
  /** Media type. */
  readonly type: string;
  /** Value of `Content-Disposition`. It must be an attachment unless the type has no active content. */
  readonly disposition: string;
  /** Seconds for which the address is valid. */
  readonly lifetime: number;
}

/** Copy of a blob in a local file; disposal removes temporary copies. */
export interface LocalBlob extends AsyncDisposable {
  /** Absolute path. The file must not be changed. */
  readonly path: string;
}

/**
 * Contents of files that rows of the service's tables refer to, such as attachments. They are in the service's folder or in
 * an object store that several hosts share; a write is visible to all hosts when it resolves.
 *
 * Keys consist of the characters `A-Za-z0-9._-` and `/`, begin with a folder of the manifest's `blobs`, and contain no
 * part that begins with a dot. All methods throw Problem `blobs.unavailable` (503) while the object store does not
 * respond or denies access.
 */
export interface Blobs {
  /**
   * Stores a blob and resolves when it is durable. When it rejects, nothing is stored. An error of `content` is passed on.
   * @throws Problem `blobs.exists` (409), `blobs.mismatch` (422); an error with a system code such as ENOSPC
   */
  write(key: string, content: AsyncIterable<Uint8Array>, options?: WriteBlobOptions): Promise<WrittenBlob>;
  find(key: string): Promise<BlobEntry | undefined>;
  /**
   * Opens a blob or a part of it.
   * @throws Problem `blobs.missing` (404)
   */
  read(key: string, options?: ReadBlobOptions): Promise<Readable>;
  /** Copies a blob to a new key. Resolves with false if it does not exist. @throws Problem `blobs.exists` (409) */
  copy(from: string, to: string): Promise<boolean>;
  /** Removes blobs; missing ones are ignored. */
  remove(keys: readonly string[]): Promise<void>;
  /** Removes all blobs below a folder. */
  removeFolder(folder: string): Promise<void>;
  /** Lists the complete blobs below a folder. */
  list(folder: string): AsyncIterable<BlobEntry>;
  /** Provides a file for programs that read it themselves; undefined if the blob does not exist. */
  openFile(key: string): Promise<LocalBlob | undefined>;
  /** Returns the path of the file of a blob, whether it exists or not; undefined in an object store. */
  getPath(key: string): string | undefined;
  /**
   * Returns an address at which clients download a blob directly from the object store without further credentials;
   * undefined unless direct downloads are enabled.
   */
  link(key: string, options: BlobLinkOptions): Promise<string | undefined>;
}
