import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { once } from 'node:events';
import type { BlobRange, Blobs } from '../../contracts/blobs.ts';
import { Problem } from '../../contracts/problem.ts';

/** File of a large source that is being written. */
export interface SpoolFile extends AsyncDisposable {
  write(chunk: Uint8Array): Promise<void>;
  /** Makes the file durable, so that it is kept on disposal. Returns the SHA-256 of the source. */
  keep(): Promise<string>;
}

const folder = 'spool';
const extension = '.eml';

/** Returns the key of a source among the blobs of the service. */
export function getSpoolKey(id: string): string {
  return `${folder}/${id}${extension}`;
}

/** Stores raw sources as blobs. Names are generated here, never taken from input. */
export class Spool {
  readonly #blobs: Blobs;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  /** Creates a file that is discarded on disposal unless it was kept. */
  create(id: string): SpoolFile {
    const content = new PassThrough();
    // The write rejects with the same error.
    content.on('error', () => undefined);
    const written = this.#blobs.write(getSpoolKey(id), content);
    // The failure is reported by the next operation.
    const ended = written.then(
      () => undefined,
      (error: unknown) => content.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    return {
      async write(chunk) {
        if (content.destroyed) await written;
        if (content.write(chunk)) return;
        try {
          await Promise.race([once(content, 'drain'), written]);
        } catch (error) {
          // A failed write also ends the stream, whose own error may come first and does not say why.
          await written;
          throw error;
        }
      },
      async keep() {
        content.end();
        return (await written).sha256;
      },
      async [Symbol.asyncDispose]() {
        if (!content.writableEnded) content.destroy(new Error('The source is not kept.'));
        await ended;
      },
    };
  }

  /** Returns undefined without such a file. */
  read(id: string): Promise<Uint8Array | undefined> {
    return this.#read(id);
  }

  /** Returns the first bytes of a source; undefined without one. */
  async head(id: string, bytes: number): Promise<Uint8Array | undefined> {
    const size = (await this.#blobs.find(getSpoolKey(id)))?.size;
    if (size === undefined) return undefined;
    return size === 0 ? Buffer.alloc(0) : this.#read(id, { start: 0, end: Math.min(size, bytes) - 1 });
  }

  async #read(id: string, range?: BlobRange): Promise<Uint8Array | undefined> {
    try {
      return await buffer(await this.#blobs.read(getSpoolKey(id), { range }));
    } catch (error) {
      if (error instanceof Problem && error.code === 'blobs.missing') return undefined;
      throw error;
    }
  }

  async exists(id: string): Promise<boolean> {
    return (await this.#blobs.find(getSpoolKey(id))) !== undefined;
  }

  remove(ids: readonly string[]): Promise<void> {
    return this.#blobs.remove(ids.map(getSpoolKey));
  }

  /** Returns ids of files last written before `time`, in ms since the epoch. */
  async listBefore(time: number): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const { key, modifiedAt } of this.#blobs.list(folder)) {
      const isSource = key.endsWith(extension) && modifiedAt < time;
      if (isSource) ids.push(key.slice(folder.length + 1, -extension.length));
    }
    return ids;
  }
}
