import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import { detectionBytes } from '../../kit/file-type.ts';
import { linkOrCopy } from '../../kit/hard-links.ts';
import { toFileName, detectMediaType } from './file-name.ts';

/** Stored attachment. `file` is its name in the folder, `name` the displayed one. */
export interface StoredFile {
  readonly file: string;
  readonly name: string;
  readonly type: string;
  /** In bytes. */
  readonly size: number;
}

/** Attachment to be stored. */
export interface NewFile {
  readonly name: string;
  /** Media type as the sender declared it. */
  readonly type: string;
  /** Index among the files of its notification, from 0. */
  readonly index: number;
}

/** Minimum age at which files without a database row are removed; younger files may belong to running calls. */
const orphanMinAgeMs = 3_600_000;

/** A disk without this space has no room for attachments, and soon none for notifications. */
const probeBytes = new Uint8Array(64 * 1024);

/** Folder with the attachments of notifications, each stored once for all destinations. */
export class AttachmentFolder {
  readonly #folder: string;
  readonly #context: Pick<Context, 'clock' | 'log' | 'random'>;
  #isCreated = false;

  constructor({ files, clock, log, random }: Pick<Context, 'files' | 'clock' | 'log' | 'random'>) {
    this.#folder = join(files, 'attachments');
    this.#context = { clock, log, random };
  }

  /**
   * Writes a file durably. Returns undefined if it exceeds the limit; the stream is read to its end in any case.
   *
   * @throws Problem `notify.no_room` (507)
   */
  async write(source: Readable, { name, type, index }: NewFile, limit: number): Promise<StoredFile | undefined> {
    if (!this.#isCreated) await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#isCreated = true;
    const file = this.#context.random.text(24);
    const path = join(this.#folder, file);
    const head: Uint8Array[] = [];
    let size = 0;
    try {
      const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
      const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
        for await (const chunk of chunks) {
          if (size < detectionBytes) head.push(chunk.subarray(0, detectionBytes - size));
          size += chunk.length;
          if (size <= limit) yield chunk;
        }
      };
      await pipeline(source, counted, target);
      const displayName = toFileName(name, index);
      if (size <= limit)
        return { file, name: displayName, type: await detectMediaType(type, displayName, Buffer.concat(head)), size };
      await this.remove([file]);
      return undefined;
    } catch (error) {
      await this.remove([file]);
      const code = (error as Partial<NodeJS.ErrnoException>).code ?? '';
      if (!['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES'].includes(code)) throw error;
      throw new Problem('notify.no_room', 507, 'There is no room for the attachment.', { cause: error });
    }
  }

  /** Copies a file to a new name. Returns undefined if it no longer exists. */
  async copy(original: StoredFile): Promise<StoredFile | undefined> {
    const file = this.#context.random.text(24);
    try {
      await linkOrCopy(join(this.#folder, original.file), join(this.#folder, file));
      return { ...original, file };
    } catch (error) {
      if ((error as Partial<NodeJS.ErrnoException>).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Returns true if a small file can be written. */
  async canWrite(): Promise<boolean> {
    try {
      const probe = await this.write(Readable.from([probeBytes]), { name: 'probe', type: '', index: 0 }, Infinity);
      if (probe !== undefined) await this.remove([probe.file]);
      return true;
    } catch (error) {
      this.#context.log.warn('attachment write failed', { error });
      return false;
    }
  }

  /** Returns the absolute path of a file. */
  getPath(file: string): string {
    return join(this.#folder, file);
  }

  read(file: string): Promise<Uint8Array> {
    return readFile(this.getPath(file));
  }

  /** Removes files; missing files are ignored. */
  async remove(files: readonly string[]): Promise<void> {
    for (const file of files) {
      await unlink(join(this.#folder, file)).catch((error: unknown) =>
        this.#logUnlessMissing(error, 'attachment deletion failed'),
      );
    }
  }

  /** Removes old files that `retained` does not contain; a crash can leave them behind. */
  async removeOrphans(retained: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      this.#logUnlessMissing(error, 'attachment listing failed');
      return [];
    });
    for (const name of names.filter((each) => !retained.has(each))) {
      const stats = await stat(join(this.#folder, name)).catch((error: unknown) =>
        this.#logUnlessMissing(error, 'attachment check failed'),
      );
      if (stats !== undefined && this.#context.clock.now() - stats.mtimeMs > orphanMinAgeMs) await this.remove([name]);
    }
  }

  #logUnlessMissing(error: unknown, message: string): undefined {
    if ((error as Partial<NodeJS.ErrnoException>).code === 'ENOENT') return undefined;
    this.#context.log.warn(message, { error });
    return undefined;
  }
}
