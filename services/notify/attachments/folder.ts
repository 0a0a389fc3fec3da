import { createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import { toFileName, detectMediaType } from './file-name.ts';

/** A file that lies in the folder. `file` is its name there, `name` the one people see. */
export interface StoredFile {
  readonly file: string;
  readonly name: string;
  readonly type: string;
  /** In bytes. */
  readonly size: number;
}

/** A file on its way into the folder. */
export interface NewFile {
  readonly name: string;
  /** Media type as its sender gave it. */
  readonly type: string;
  /** Where it stands among the files of its notice, from 0. */
  readonly index: number;
}

/** Files nothing in the database knows of are removed at this age: younger ones belong to calls under way. */
const orphanMinAgeMs = 3_600_000;

/** Who has not so much room has none for attachments, and soon none for notices. */
const probeBytes = new Uint8Array(64 * 1024);

/** The files of notices on their way, each once for all destinations. */
export class AttachmentFolder {
  readonly #folder: string;
  readonly #context: Pick<Context, 'clock' | 'log' | 'random'>;
  #isCreated = false;

  constructor({ files, clock, log, random }: Pick<Context, 'files' | 'clock' | 'log' | 'random'>) {
    this.#folder = join(files, 'attachments');
    this.#context = { clock, log, random };
  }

  /**
   * Writes a file, on disk for good when this resolves. Undefined when it was longer than the limit; it was read to its end
   * then. @throws Problem `notify.no_room` (507)
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
          if (size === 0) head.push(chunk.subarray(0, 16));
          size += chunk.length;
          if (size <= limit) yield chunk;
        }
      };
      await pipeline(source, counted, target);
      const displayName = toFileName(name, index);
      if (size <= limit)
        return { file, name: displayName, type: detectMediaType(type, displayName, Buffer.concat(head)), size };
      await this.remove([file]);
      return undefined;
    } catch (error) {
      await this.remove([file]);
      const code = (error as Partial<NodeJS.ErrnoException>).code ?? '';
      if (!['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES'].includes(code)) throw error;
      throw new Problem('notify.no_room', 507, 'There is no room for the attachment.', { cause: error });
    }
  }

  /** The same file once more under a name of its own; undefined when it is gone. */
  async copy(stored: StoredFile): Promise<StoredFile | undefined> {
    const file = this.#context.random.text(24);
    try {
      await link(join(this.#folder, stored.file), join(this.#folder, file));
      return { ...stored, file };
    } catch (error) {
      if ((error as Partial<NodeJS.ErrnoException>).code === 'ENOENT') return undefined;
      // Not every file system has links.
      await copyFile(join(this.#folder, stored.file), join(this.#folder, file));
      return { ...stored, file };
    }
  }

  /** Whether a file finds room, tried with a small one. */
  async canWrite(): Promise<boolean> {
    try {
      const probe = await this.write(Readable.from([probeBytes]), { name: 'probe', type: '', index: 0 }, Infinity);
      if (probe !== undefined) await this.remove([probe.file]);
      return true;
    } catch (error) {
      this.#context.log.warn('attachments cannot be written', { error });
      return false;
    }
  }

  /** Absolute path of a file. */
  getPath(file: string): string {
    return join(this.#folder, file);
  }

  read(file: string): Promise<Uint8Array> {
    return readFile(this.getPath(file));
  }

  /** Removes files; one that is gone already is fine. */
  async remove(files: readonly string[]): Promise<void> {
    for (const file of files) {
      await unlink(join(this.#folder, file)).catch((error: unknown) => this.#logUnlessMissing(error, 'not removed'));
    }
  }

  /** Removes old files that `kept` does not name, as a crash leaves them behind. */
  async removeOrphans(retained: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      this.#logUnlessMissing(error, 'not listed');
      return [];
    });
    for (const name of names.filter((each) => !retained.has(each))) {
      const stats = await stat(join(this.#folder, name)).catch((error: unknown) =>
        this.#logUnlessMissing(error, 'not seen'),
      );
      if (stats !== undefined && this.#context.clock.now() - stats.mtimeMs > orphanMinAgeMs) await this.remove([name]);
    }
  }

  #logUnlessMissing(error: unknown, action: string): undefined {
    if ((error as Partial<NodeJS.ErrnoException>).code === 'ENOENT') return undefined;
    this.#context.log.warn(`attachments were ${action}`, { error });
    return undefined;
  }
}
