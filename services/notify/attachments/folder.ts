import * as m from '#messages/notify-problems';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { LocalBlob } from '../../contracts/blobs.ts';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import { detectionBytes } from '../../kit/file-type.ts';
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

/** Folder of the attachments among the blobs of the service. */
const folder = 'attachments';

/** A disk without this space has no room for attachments, and soon none for notifications. */
const probeBytes = new Uint8Array(64 * 1024);

/** Ends the write of a file that exceeds the limit. */
class TooLarge extends Error {}

/** Attachments of notifications, each stored once for all destinations. */
export class AttachmentFolder {
  readonly #context: Pick<Context, 'blobs' | 'clock' | 'log' | 'random'>;

  constructor(context: Pick<Context, 'blobs' | 'clock' | 'log' | 'random'>) {
    this.#context = context;
  }

  /**
   * Writes a file durably. Returns undefined if it exceeds the limit; the stream is read to its end in any case.
   *
   * @throws Problem `notify.no_room` (507), `blobs.unavailable` (503)
   */
  async write(source: Readable, { name, type, index }: NewFile, limit: number): Promise<StoredFile | undefined> {
    const file = this.#context.random.text(24);
    const head: Uint8Array[] = [];
    let size = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        if (size < detectionBytes) head.push(chunk.subarray(0, detectionBytes - size));
        size += chunk.length;
        if (size <= limit) yield chunk;
      }
      if (size > limit) throw new TooLarge();
    };
    try {
      await this.#context.blobs.write(getKey(file), counted());
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      const code = (error as Partial<NodeJS.ErrnoException>).code ?? '';
      if (!['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES'].includes(code)) throw error;
      throw new Problem('notify.no_room', 507, m.storageFull, { cause: error });
    }
    const displayName = toFileName(name, index);
    return { file, name: displayName, type: await detectMediaType(type, displayName, Buffer.concat(head)), size };
  }

  /** Copies a file to a new name. Returns undefined if it no longer exists. */
  async copy(original: StoredFile): Promise<StoredFile | undefined> {
    const file = this.#context.random.text(24);
    const isCopied = await this.#context.blobs.copy(getKey(original.file), getKey(file));
    return isCopied ? { ...original, file } : undefined;
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

  /** Provides a file for programs that read it themselves; undefined if it no longer exists. */
  openFile(file: string): Promise<LocalBlob | undefined> {
    return this.#context.blobs.openFile(getKey(file));
  }

  /** @throws Problem `blobs.missing` (404) */
  async read(file: string): Promise<Uint8Array> {
    return buffer(await this.#context.blobs.read(getKey(file)));
  }

  /** Removes files; missing files are ignored. Those that cannot be removed now are removed as orphans. */
  async remove(files: readonly string[]): Promise<void> {
    try {
      await this.#context.blobs.remove(files.map(getKey));
    } catch (error) {
      this.#context.log.warn('attachment deletion failed', { error });
    }
  }

  /** Removes old files that `retained` does not contain; a crash can leave them behind. */
  async removeOrphans(retained: ReadonlySet<string>): Promise<void> {
    const orphans: string[] = [];
    try {
      for await (const { key, modifiedAt } of this.#context.blobs.list(folder)) {
        const file = key.slice(folder.length + 1);
        if (!retained.has(file) && this.#context.clock.now() - modifiedAt > orphanMinAgeMs) orphans.push(file);
      }
    } catch (error) {
      this.#context.log.warn('attachment listing failed', { error });
    }
    await this.remove(orphans);
  }
}

function getKey(file: string): string {
  return `${folder}/${file}`;
}
