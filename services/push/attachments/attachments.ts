import { open, mkdir, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { sanitizeFileName } from '../domain/attachment-name.ts';
import type { Attachment, StoredFile } from '../domain/message.ts';
import { refuse } from '../domain/refusals.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import { detectionBytes } from '../../kit/file-type.ts';
import { detectFileType } from './file-type.ts';

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

export interface Upload {
  readonly request: IncomingMessage;
  /** Id of the message that the file belongs to. */
  readonly id: string;
  readonly name: string;
  /** Bytes of the body already read. */
  readonly head: Buffer;
  /** Sender whose quota is used, and the quota in bytes. */
  readonly sender: string;
  readonly quota: number;
  /** Bytes that the sender may still transfer today. */
  readonly remainingTraffic: number;
  /** Expiry of the message, and its delivery time when it is delayed; unix seconds. */
  readonly messageExpires: number;
  readonly due: number | undefined;
}

/** Milliseconds without data after which an upload is ended. */
const uploadIdleTimeoutMs = 30_000;
/** Milliseconds after which a file without message is deleted. */
const orphanAgeMs = 3_600_000;
const batchSize = 500;

/** Returns the folder of attachments inside of the service's folder; each file is named after the id of its message. */
export function getAttachmentsFolder(files: string): string {
  return join(files, 'attachments');
}

/** Stores the attachments of messages as files named after the message id. */
export class Attachments {
  readonly #context: Pick<Context, 'files' | 'clock' | 'commit' | 'log'>;
  readonly #store: AttachmentStore;
  readonly #settings: AttachmentSettings;
  /** Uploads in progress and files not recorded yet. */
  readonly #incoming = new Map<string, { size: number; readonly sender: string }>();

  constructor(
    context: Pick<Context, 'files' | 'clock' | 'commit' | 'log'>,
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
   * Receives a file and syncs it to disk; it is recorded together with its message. The limits apply to the bytes
   * received, regardless of Content-Length, and across concurrent uploads. `reservation` must be disposed after the
   * file is recorded.
   *
   * @throws Problem 40015, 41301, 50001 when the disk is full, `push.cut_off` (400) when the connection ends early
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
      if (!(await this.#reserve(upload))(0)) throw refuse('too_large');
      const url = this.buildUrl(id, extension);
      return {
        attachment: { name, type, size, expires, url },
        file: { id, name, type, size, expires, sender },
        reservation,
      };
    } catch (error) {
      reservation[Symbol.dispose]();
      await this.deleteFiles([id]);
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
      await mkdir(this.#folder(), { recursive: true, mode: 0o700 });
      await using handle = await open(this.#path(id), 'wx', 0o600);
      await append(handle, bytes);
      await handle.sync();
    } catch (error) {
      await this.deleteFiles([id]);
      throw error;
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

  /** Returns a stored file and its path. */
  async find(id: string): Promise<{ readonly file: StoredFile; readonly path: string } | undefined> {
    const file = await this.#store.find(id, Math.floor(this.#context.clock.now() / 1000));
    return file === undefined ? undefined : { file, path: this.#path(id) };
  }

  /** Deletes files. Missing files are ignored. */
  async deleteFiles(ids: readonly string[]): Promise<void> {
    for (const id of ids) await rm(this.#path(id), { force: true });
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

  async removeOrphans(): Promise<void> {
    const names = await readdir(this.#folder()).catch(() => []);
    for (let offset = 0; offset < names.length; offset += batchSize) {
      const chunk = names.slice(offset, offset + batchSize);
      const recorded = await this.#store.existingIds(chunk);
      for (const name of chunk) {
        if (recorded.has(name) || this.#incoming.has(name)) continue;
        const stats = await stat(this.#path(name)).catch(() => undefined);
        if (stats !== undefined && this.#context.clock.now() - stats.mtimeMs > orphanAgeMs)
          await this.deleteFiles([name]);
      }
    }
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

  async #write({ request, id, head }: Upload, hasCapacity: (more: number) => boolean): Promise<number> {
    await mkdir(this.#folder(), { recursive: true, mode: 0o700 });
    await using handle = await open(this.#path(id), 'wx', 0o600);
    let size = 0;
    const upload = this.#incoming.get(id);
    const writeChunk = async (chunk: Buffer): Promise<void> => {
      if (!hasCapacity(chunk.length)) {
        // Releases the reservation immediately, so that concurrent uploads are not refused because of this one.
        this.#incoming.delete(id);
        throw refuse('too_large');
      }
      size += chunk.length;
      if (upload !== undefined) upload.size = size;
      await append(handle, chunk);
    };
    await writeChunk(head);
    if (request.readableEnded) {
      await handle.sync();
      return size;
    }
    const { socket } = request;
    // Node destroys the socket after the timeout.
    socket.setTimeout(uploadIdleTimeoutMs);
    try {
      // Keeps the connection open when a chunk is refused, so that the sender receives the response.
      for await (const chunk of request.iterator({ destroyOnReturn: false })) await writeChunk(chunk as Buffer);
    } catch (cause) {
      if (cause instanceof Problem) throw cause;
      throw new Problem('push.cut_off', 400, 'the request ended before its body', { cause });
    } finally {
      socket.setTimeout(0);
    }
    await handle.sync();
    return size;
  }

  #folder(): string {
    return getAttachmentsFolder(this.#context.files);
  }

  #path(id: string): string {
    return join(this.#folder(), id);
  }
}

async function append(handle: FileHandle, chunk: Buffer): Promise<void> {
  try {
    for (let written = 0; written < chunk.length;) written += (await handle.write(chunk, written)).bytesWritten;
  } catch (cause) {
    const isDiskFull =
      cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
    throw isDiskFull ? refuse('internal', 'no space is left for files', { cause }) : cause;
  }
}
