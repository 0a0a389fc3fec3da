import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  temporaryBlobsFolder,
  type BlobEntry,
  type Blobs,
  type LocalBlob,
  type ReadBlobOptions,
  type WriteBlobOptions,
  type WrittenBlob,
} from '../../../services/contracts/blobs.ts';
import { linkOrCopy } from '../../../services/kit/hard-links.ts';
import { moveFolder, removeTree, replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import { buildExistsProblem, buildMissingProblem } from './blob-problems.ts';
import { FolderSync } from './folder-sync.ts';
import { MeasuredContent, verifyContent } from './measured-content.ts';

/** Blobs as files in the folder of a service. */
export class LocalBlobs implements Blobs {
  readonly #folder: string;
  readonly #folderSync = new FolderSync();
  /** Keys that are being written, which other writes must not use. */
  readonly #writing = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(key: string, content: AsyncIterable<Uint8Array>, options: WriteBlobOptions = {}): Promise<WrittenBlob> {
    const incoming = this.#getIncomingFolder(key);
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    const partial = join(incoming, randomUUID());
    const measured = new MeasuredContent(content, options);
    try {
      // `flush` writes the content to the disk before the stream closes.
      await pipeline(measured.read(), createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }));
      await this.#publish(key, partial, options);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    return measured.getResult();
  }

  /** Gives a complete file its name. */
  async #publish(key: string, partial: string, { contentSize }: WriteBlobOptions): Promise<void> {
    const target = this.getPath(key);
    await this.#createFolders(dirname(target));
    if (contentSize !== undefined) await replaceFile(partial, target);
    else {
      // One process uses a data folder, so no other writer exists between the check and the rename.
      if (this.#writing.has(key)) throw buildExistsProblem();
      this.#writing.add(key);
      try {
        if ((await this.find(key)) !== undefined) throw buildExistsProblem();
        await replaceFile(partial, target);
      } finally {
        this.#writing.delete(key);
      }
    }
    await this.#folderSync.run(dirname(target));
  }

  /** Creates the folder and those above it, and makes their names durable. */
  async #createFolders(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    for (let path = folder; path.length >= first.length; path = dirname(path)) {
      await this.#folderSync.run(dirname(path));
    }
  }

  async find(key: string): Promise<BlobEntry | undefined> {
    const facts = await stat(this.getPath(key)).catch(ignoreMissing);
    return facts?.isFile() === true ? { key, size: facts.size, modifiedAt: facts.mtimeMs } : undefined;
  }

  async read(key: string, { range, sha256 }: ReadBlobOptions = {}): Promise<Readable> {
    const handle = await open(this.getPath(key)).catch((error: unknown) => {
      ignoreMissing(error);
      throw buildMissingProblem(error);
    });
    const content = handle.createReadStream(range);
    return range === undefined && sha256 !== undefined ? Readable.from(verifyContent(content, sha256)) : content;
  }

  async copy(from: string, to: string): Promise<boolean> {
    const target = this.getPath(to);
    await this.#createFolders(dirname(target));
    try {
      await linkOrCopy(this.getPath(from), target);
    } catch (error) {
      const code = getErrorCode(error);
      if (code === 'ENOENT') return false;
      throw code === 'EEXIST' ? buildExistsProblem(error) : error;
    }
    await this.#folderSync.run(dirname(target));
    return true;
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await rm(this.getPath(key), { force: true });
  }

  async removeFolder(folder: string): Promise<void> {
    if (!folder.includes('/')) return removeTree(this.getPath(folder));
    // A new name first, so that a partially removed folder is never read.
    const removed = join(this.#getIncomingFolder(folder), randomUUID());
    await mkdir(dirname(removed), { recursive: true, mode: 0o700 });
    try {
      await moveFolder(this.getPath(folder), removed);
    } catch (error) {
      ignoreMissing(error);
      return;
    }
    await removeTree(removed);
  }

  async *list(folder: string): AsyncGenerator<BlobEntry> {
    const entries = (await readdir(this.getPath(folder), { withFileTypes: true }).catch(ignoreMissing)) ?? [];
    for (const entry of entries) {
      if (entry.name === temporaryBlobsFolder) continue;
      const key = `${folder}/${entry.name}`;
      if (entry.isDirectory()) yield* this.list(key);
      const blob = entry.isFile() ? await this.find(key) : undefined;
      if (blob !== undefined) yield blob;
    }
  }

  async openFile(key: string): Promise<LocalBlob | undefined> {
    if ((await this.find(key)) === undefined) return undefined;
    return { path: this.getPath(key), [Symbol.asyncDispose]: () => Promise.resolve() };
  }

  getPath(key: string): string {
    return join(this.#folder, ...key.split('/'));
  }

  /** Returns a folder on the file system of the blob, since its first folder can be a mount. */
  #getIncomingFolder(key: string): string {
    return join(this.#folder, key.split('/', 1)[0] ?? '', temporaryBlobsFolder);
  }

  link(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

function getErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Returns undefined for a missing file or folder. @throws other errors */
function ignoreMissing(error: unknown): undefined {
  const code = getErrorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  return undefined;
}
