import { open, mkdir, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { plainName } from '../domain/attachment-name.ts';
import type { Attachment, HeldFile } from '../domain/message.ts';
import { refuse } from '../domain/refusals.ts';
import type { AttachmentStore } from '../store/attachments.ts';
import { kindOf, tellingBytes } from './file-type.ts';

export interface AttachmentSettings {
  /** Bytes of one file; 0 keeps none. */
  readonly fileSize: number;
  /** Bytes of all files. */
  readonly totalSize: number;
  /** How long a file is kept at most. */
  readonly seconds: number;
  /** Where this server is reached, without a slash at the end; undefined while nobody knows. */
  readonly baseUrl: () => string | undefined;
}

export interface Upload {
  readonly request: IncomingMessage;
  /** Of the message that it belongs to. */
  readonly id: string;
  readonly name: string;
  /** What was read of the body so far. */
  readonly head: Buffer;
  /** Whose quota it counts for, and how many bytes that is. */
  readonly sender: string;
  readonly quota: number;
  /** Bytes that he may still send today. */
  readonly traffic: number;
  /** When the message expires, and when it is delivered if that is later than now; unix seconds. */
  readonly messageExpires: number;
  readonly due: number | undefined;
}

/** A sender that is silent for this long has gone; ms. */
const longestSilence = 30_000;
/** A file whose message is not there after this time has lost it; ms. */
const orphanAge = 3_600_000;
const batch = 500;

/** Where files lie within the service's own folder, each under the id of its message. */
export function attachmentsFolder(files: string): string {
  return join(files, 'attachments');
}

/** The files of messages, in a folder of their own under the ids of their messages. */
export class Attachments {
  readonly #context: Pick<Context, 'files' | 'clock' | 'commit' | 'log'>;
  readonly #store: AttachmentStore;
  readonly #settings: AttachmentSettings;
  /** Files that are coming in or not recorded yet. */
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
   * Refuses what says that it is too large before any of it is read. `least` bytes are taken in any case.
   *
   * @throws Problem 41301
   */
  admit(request: IncomingMessage, least: number): void {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > Math.max(this.#settings.fileSize, least)) throw refuse('too_large');
  }

  /**
   * Takes a file in and writes it down for good; it is recorded with its message. The limits hold for what really comes,
   * whatever was announced, and for all that come at once together. `room` is to be given back once the file is recorded.
   *
   * @throws Problem 40015, 41301, 50001 when the disk is full, `push.cut_off` (400) when the connection ends early.
   */
  async receive(
    upload: Upload,
  ): Promise<{ readonly attachment: Attachment; readonly file: HeldFile; readonly room: Disposable }> {
    const { id, head, sender, due, messageExpires } = upload;
    const now = Math.floor(this.#context.clock.now() / 1000);
    const expires = Math.min(now + this.#settings.seconds, messageExpires);
    if (due !== undefined && expires < due) throw refuse('attachment_expires_first');
    const fits = await this.#fits(upload);
    const given = plainName(upload.name);
    const { type, ending } = await kindOf(head.subarray(0, tellingBytes), given);
    const name = given || `attachment${ending}`;
    const room: Disposable = { [Symbol.dispose]: () => this.#incoming.delete(id) };
    try {
      const size = await this.#write(upload, fits);
      // Others were recorded meanwhile, which were not counted when this one began.
      if (!(await this.#fits(upload))(0)) throw refuse('too_large');
      const url = this.addressOf(id, ending);
      return { attachment: { name, type, size, expires, url }, file: { id, name, type, size, expires, sender }, room };
    } catch (error) {
      room[Symbol.dispose]();
      await this.discard([id]);
      throw error;
    }
  }

  /**
   * Keeps a file that another part of the app has whole; it is recorded with its message. Undefined where there is no room
   * for it: then the message comes without.
   *
   * @throws Problem 50001 when the disk is full.
   */
  async keep(
    id: string,
    given: { readonly name: string; readonly bytes: Uint8Array },
    { sender, messageExpires }: { readonly sender: string; readonly messageExpires: number },
  ): Promise<{ readonly attachment: Attachment; readonly file: HeldFile } | undefined> {
    const { length: size } = given.bytes;
    const { fileSize, totalSize, seconds } = this.#settings;
    const coming = [...this.#incoming.values()].reduce((sum, each) => sum + each.size, 0);
    if (!this.enabled || size === 0 || size > Math.min(fileSize, totalSize - (await this.#store.size()) - coming))
      return undefined;
    const expires = Math.min(Math.floor(this.#context.clock.now() / 1000) + seconds, messageExpires);
    const bytes = Buffer.from(given.bytes.buffer, given.bytes.byteOffset, size);
    const { type, ending } = await kindOf(bytes.subarray(0, tellingBytes), plainName(given.name));
    const name = plainName(given.name) || `attachment${ending}`;
    this.#incoming.set(id, { size, sender });
    try {
      await mkdir(this.#folder(), { recursive: true, mode: 0o700 });
      await using handle = await open(this.#path(id), 'wx', 0o600);
      await append(handle, bytes);
      await handle.sync();
    } catch (error) {
      await this.discard([id]);
      throw error;
    } finally {
      this.#incoming.delete(id);
    }
    const url = this.addressOf(id, ending);
    return { attachment: { name, type, size, expires, url }, file: { id, name, type, size, expires, sender } };
  }

  /** Where clients get a file. */
  addressOf(id: string, ending: string): string {
    return `${this.#settings.baseUrl() ?? ''}/file/${id}${ending}`;
  }

  /** What one file may have, in bytes, and how long it is kept at most, in seconds. */
  get bounds(): { readonly size: number; readonly seconds: number } {
    return { size: this.#settings.fileSize, seconds: this.#settings.seconds };
  }

  /** Bytes of the files of one sender. */
  stored(sender: string): Promise<number> {
    return this.#store.size(sender);
  }

  /** A file that is there, and where. */
  async find(id: string): Promise<{ readonly file: HeldFile; readonly path: string } | undefined> {
    const file = await this.#store.find(id, Math.floor(this.#context.clock.now() / 1000));
    return file === undefined ? undefined : { file, path: this.#path(id) };
  }

  /** Removes files from the folder; those that are gone already are no fault. */
  async discard(ids: readonly string[]): Promise<void> {
    for (const id of ids) await rm(this.#path(id), { force: true });
  }

  /** Removes what has expired, and what lost its message before it was recorded. */
  async clean(): Promise<void> {
    const { clock, commit } = this.#context;
    const now = Math.floor(clock.now() / 1000);
    for (let removed = batch; removed === batch;) {
      const ids = await commit((transaction) => this.#store.removeExpired(transaction, now, batch));
      await this.discard(ids);
      removed = ids.length;
    }
  }

  async cleanOrphans(): Promise<void> {
    const names = await readdir(this.#folder()).catch(() => []);
    for (let at = 0; at < names.length; at += batch) {
      const some = names.slice(at, at + batch);
      const known = await this.#store.existingIds(some);
      for (const name of some) {
        if (known.has(name) || this.#incoming.has(name)) continue;
        const found = await stat(this.#path(name)).catch(() => undefined);
        if (found !== undefined && this.#context.clock.now() - found.mtimeMs > orphanAge) await this.discard([name]);
      }
    }
  }

  /** Tells whether a file may have so many bytes more, by what was recorded when it was asked and what comes in now. */
  async #fits({ request, id, sender, quota, traffic }: Upload): Promise<(more: number) => boolean> {
    const { fileSize, totalSize } = this.#settings;
    const [all, own] = await Promise.all([this.#store.size(), quota === Infinity ? 0 : this.#store.size(sender)]);
    let coming = this.#incoming.get(id);
    const fits = (more: number): boolean => {
      let [total, mine] = [all + more, own + more];
      for (const each of this.#incoming.values()) {
        total += each.size;
        if (each.sender === sender) mine += each.size;
      }
      const size = (coming?.size ?? 0) + more;
      return size <= fileSize && size <= traffic && total <= totalSize && mine <= quota;
    };
    if (coming === undefined) {
      if (!fits(Number(request.headers['content-length'] ?? 0))) throw refuse('too_large');
      this.#incoming.set(id, (coming = { size: 0, sender }));
    }
    return fits;
  }

  async #write({ request, id, head }: Upload, fits: (more: number) => boolean): Promise<number> {
    await mkdir(this.#folder(), { recursive: true, mode: 0o700 });
    await using handle = await open(this.#path(id), 'wx', 0o600);
    let size = 0;
    const coming = this.#incoming.get(id);
    const take = async (chunk: Buffer): Promise<void> => {
      if (!fits(chunk.length)) {
        // At once, or all that come now would be refused before the first of them makes room.
        this.#incoming.delete(id);
        throw refuse('too_large');
      }
      size += chunk.length;
      if (coming !== undefined) coming.size = size;
      await append(handle, chunk);
    };
    await take(head);
    if (request.readableEnded) {
      await handle.sync();
      return size;
    }
    const { socket } = request;
    // Node destroys the socket then.
    socket.setTimeout(longestSilence);
    try {
      // Not destroyed when a chunk is refused: its sender is to see why.
      for await (const chunk of request.iterator({ destroyOnReturn: false })) await take(chunk as Buffer);
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
    return attachmentsFolder(this.#context.files);
  }

  #path(id: string): string {
    return join(this.#folder(), id);
  }
}

async function append(handle: FileHandle, chunk: Buffer): Promise<void> {
  try {
    for (let done = 0; done < chunk.length;) done += (await handle.write(chunk, done)).bytesWritten;
  } catch (cause) {
    const full = cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
    throw full ? refuse('internal', 'no space is left for files', { cause }) : cause;
  }
}
