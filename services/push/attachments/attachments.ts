import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Blobs } from '../../contracts/blobs.ts';
import type { Context } from '../../contracts/service.ts';
import { sanitizeFileName } from '../domain/attachment-name.ts';
import type { Attachment, StoredFile } from '../domain/message.ts';
import { refuse } from '../domain/refusals.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import { formatAttachment } from '../../kit/http/content-disposition.ts';
import { detectionBytes } from '../../kit/file-type.ts';
import { detectFileType } from './file-type.ts';
import { readUpload, type Upload } from './upload.ts';

export interface AttachmentSettings {
  /** Maximum size of one file in bytes; 0 disables attachments. */
  readonly fileSize: number;
  /** Maximum size of all files in bytes. */
  readonly totalSize: number;
  /** Maximum retention of a file. */
  readonly seconds: number;
  /** Public address of this server without trailing slash; undefined without a listener. */
  readonly baseUrl: () => string | undefined;
}

/** Milliseconds after which a file without message is deleted. */
const orphanAgeMs = 3_600_000;
const batchSize = 500;
/** Seconds for which the address of a direct download is valid. */
const linkLifetimeSeconds = 300;

/** Returns the media type with which a file is sent. Text files are never rendered as pages. */
export function getServedType({ type }: Pick<StoredFile, 'type'>): string {
  return type.startsWith('text/') ? 'text/plain; charset=utf-8' : type;
}

/** Folder of the attachments among the blobs of the service. */
export const attachmentsFolder = 'attachments';

/** Returns the key of the attachment of a message. */
export function getAttachmentKey(id: string): string {
  return `${attachmentsFolder}/${id}`;
}

/** Stores the attachments of messages as blobs named after the message id. */
export class Attachments {
  readonly #context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'log'>;
  readonly #store: AttachmentStore;
  readonly #settings: AttachmentSettings;
  /** Uploads in progress and files not recorded yet. */
  readonly #incoming = new Map<string, { size: number; readonly sender: string }>();

  constructor(
    context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'log'>,
    store: AttachmentStore,
    settings: AttachmentSettings,
  ) {
    this.#context = context;
    this.#store = store;
    this.#settings = settings;
  }

  get enabled(): boolean {
    return this.#settings.fileSize > 0 && this.#settings.baseUrl() !== undefined;
  }

  /**
   * Refuses a request with a Content-Length above the limit before reading it. Up to `minBytes` bytes are always
   * accepted.
   *
   * @throws Problem 41301
   */
  admit(request: IncomingMessage, minBytes: number): void {
    const contentLength = Number(request.headers['content-length'] ?? 0);
    if (contentLength > Math.max(this.#settings.fileSize, minBytes)) throw refuse('too_large');
  }

  /**
   * Receives a file and stores it durably; it is recorded together with its message. The limits apply to the bytes
   * received, regardless of Content-Length, and across concurrent uploads. `reservation` must be disposed after the
   * file is recorded.
   *
   * @throws Problem 40015, 41301, 50001 when the disk is full, `push.cut_off` (400) when the connection ends early,
   * `blobs.unavailable` (503)
   */
  async receive(
    upload: Upload,
  ): Promise<{ readonly attachment: Attachment; readonly file: StoredFile; readonly reservation: Disposable }> {
    const { id, head, sender, due, messageExpires } = upload;
    const now = Math.floor(this.#context.clock.now() / 1000);
    const expires = Math.min(now + this.#settings.seconds, messageExpires);
    if (due !== undefined && expires < due) throw refuse('attachment_expires_first');
    const hasCapacity = await this.#reserve(upload);
    const fileName = sanitizeFileName(upload.name);
    const { type, extension } = await detectFileType(head.subarray(0, detectionBytes), fileName);
    const name = fileName || `attachment${extension}`;
    const reservation: Disposable = { [Symbol.dispose]: () => this.#incoming.delete(id) };
    try {
      const size = await this.#write(upload, hasCapacity);
      // Checks again, because other uploads may have been recorded since this one started.
      if (!(await this.#reserve(upload))(0)) {
        await this.deleteFiles([id]);
        throw refuse('too_large');
      }
      const url = this.buildUrl(id, extension);
      return {
        attachment: { name, type, size, expires, url },
        file: { id, name, type, size, expires, sender },
        reservation,
      };
    } catch (error) {
      reservation[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Stores a file received from another service; it is recorded together with its message. Returns undefined when the
   * quota is exhausted: the message is then published without it.
   *
   * @throws Problem 50001 when the disk is full
   */
  async store(
    id: string,
    input: { readonly name: string; readonly bytes: Uint8Array },
    { sender, messageExpires }: { readonly sender: string; readonly messageExpires: number },
  ): Promise<{ readonly attachment: Attachment; readonly file: StoredFile } | undefined> {
    const { length: size } = input.bytes;
    const { fileSize, totalSize, seconds } = this.#settings;
    const incomingBytes = [...this.#incoming.values()].reduce((sum, each) => sum + each.size, 0);
    if (
      !this.enabled ||
      size === 0 ||
      size > Math.min(fileSize, totalSize - (await this.#store.size()) - incomingBytes)
    )
      return undefined;
    const expires = Math.min(Math.floor(this.#context.clock.now() / 1000) + seconds, messageExpires);
    const bytes = Buffer.from(input.bytes.buffer, input.bytes.byteOffset, size);
    const { type, extension } = await detectFileType(bytes.subarray(0, detectionBytes), sanitizeFileName(input.name));
    const name = sanitizeFileName(input.name) || `attachment${extension}`;
    this.#incoming.set(id, { size, sender });
    try {
      await this.#writeBlob(id, Readable.from([bytes]));
    } finally {
      this.#incoming.delete(id);
    }
    const url = this.buildUrl(id, extension);
    return { attachment: { name, type, size, expires, url }, file: { id, name, type, size, expires, sender } };
  }

  /** Returns the URL at which clients download a file. */
  buildUrl(id: string, extension: string): string {
    return `${this.#settings.baseUrl() ?? ''}/file/${id}${extension}`;
  }

  /** Maximum size of a file in bytes and its maximum retention in seconds. */
  get bounds(): { readonly size: number; readonly seconds: number } {
    return { size: this.#settings.fileSize, seconds: this.#settings.seconds };
  }

  /** Returns the total size of a sender's files in bytes. */
  getStoredBytes(sender: string): Promise<number> {
    return this.#store.size(sender);
  }

  /** Blobs of the service, in which {@link getAttachmentKey} names the files. */
  get blobs(): Blobs {
    return this.#context.blobs;
  }

  /** Returns an address at the store from which clients download a file; undefined unless such downloads are enabled. */
  link(file: StoredFile): Promise<string | undefined> {
    const { id, name } = file;
    const options = { type: getServedType(file), disposition: formatAttachment(name), lifetime: linkLifetimeSeconds };
    return this.#context.blobs.link(getAttachmentKey(id), options);
  }

  /** Returns a stored file. */
  find(id: string): Promise<StoredFile | undefined> {
    return this.#store.find(id, Math.floor(this.#context.clock.now() / 1000));
  }

  /**
   * Returns the first bytes of a file.
   * @throws Problem `blobs.missing` (404)
   */
  async readHead({ id, size }: StoredFile): Promise<Buffer> {
    if (size === 0) return Buffer.alloc(0);
    const range = { start: 0, end: Math.min(size, detectionBytes) - 1 };
    return buffer(await this.#context.blobs.read(getAttachmentKey(id), { range }));
  }

  /** Deletes files. Those that cannot be deleted now are orphans, which {@link removeOrphans} deletes later. */
  async deleteFiles(ids: readonly string[]): Promise<void> {
    try {
      await this.#context.blobs.remove(ids.map(getAttachmentKey));
    } catch (error) {
      this.#context.log.warn('attachment deletion failed', { error });
    }
  }

  /** Deletes expired files. */
  async removeExpired(): Promise<void> {
    const { clock, commit } = this.#context;
    const now = Math.floor(clock.now() / 1000);
    for (let removed = batchSize; removed === batchSize;) {
      const ids = await commit((transaction) => this.#store.removeExpired(transaction, now, batchSize));
      await this.deleteFiles(ids);
      removed = ids.length;
    }
  }

  /** Deletes files without a row, which a killed host left behind. */
  async removeOrphans(): Promise<void> {
    let ids: string[] = [];
    for await (const { key, modifiedAt } of this.#context.blobs.list(attachmentsFolder)) {
      if (this.#context.clock.now() - modifiedAt <= orphanAgeMs) continue;
      ids.push(key.slice(attachmentsFolder.length + 1));
      if (ids.length < batchSize) continue;
      await this.#removeUnrecorded(ids);
      ids = [];
    }
    await this.#removeUnrecorded(ids);
  }

  async #removeUnrecorded(ids: readonly string[]): Promise<void> {
    const recorded = await this.#store.existingIds(ids);
    await this.deleteFiles(ids.filter((id) => !recorded.has(id) && !this.#incoming.has(id)));
  }

  /**
   * Reserves an upload and returns a function that checks whether further bytes fit, based on the files recorded now
   * and concurrent uploads.
   */
  async #reserve({ request, id, sender, quota, remainingTraffic }: Upload): Promise<(more: number) => boolean> {
    const { fileSize, totalSize } = this.#settings;
    const [totalBytes, senderBytes] = await Promise.all([
      this.#store.size(),
      quota === Infinity ? 0 : this.#store.size(sender),
    ]);
    let upload = this.#incoming.get(id);
    const hasCapacity = (more: number): boolean => {
      let [total, senderTotal] = [totalBytes + more, senderBytes + more];
      for (const each of this.#incoming.values()) {
        total += each.size;
        if (each.sender === sender) senderTotal += each.size;
      }
      const size = (upload?.size ?? 0) + more;
      return size <= fileSize && size <= remainingTraffic && total <= totalSize && senderTotal <= quota;
    };
    if (upload === undefined) {
      if (!hasCapacity(Number(request.headers['content-length'] ?? 0))) throw refuse('too_large');
      this.#incoming.set(id, (upload = { size: 0, sender }));
    }
    return hasCapacity;
  }

  async #write(upload: Upload, hasCapacity: (more: number) => boolean): Promise<number> {
    const { id } = upload;
    const reservation = this.#incoming.get(id);
    let size = 0;
    const take = (chunk: Buffer): Buffer => {
      if (!hasCapacity(chunk.length)) {
        // Releases the reservation immediately, so that concurrent uploads are not refused because of this one.
        this.#incoming.delete(id);
        throw refuse('too_large');
      }
      size += chunk.length;
      if (reservation !== undefined) reservation.size = size;
      return chunk;
    };
    await this.#writeBlob(id, readUpload(upload, take));
    return size;
  }

  async #writeBlob(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await this.#context.blobs.write(getAttachmentKey(id), content);
    } catch (cause) {
      const isDiskFull =
        cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
      throw isDiskFull ? refuse('internal', 'no space is left for files', { cause }) : cause;
    }
  }
}
