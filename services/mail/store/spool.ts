import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A large mail's source on its way into the spool. */
export interface SpoolFile extends AsyncDisposable {
  write(chunk: Uint8Array): Promise<void>;
  /** Makes the file and its name durable. After that the disposal keeps it. Returns the SHA-256 of the source. */
  keep(): Promise<string>;
}

/** Raw sources in files, one each. Names are made here, so none comes from outside. */
export class Spool {
  readonly #folder: string;
  /** The sync of names under way, which never rejects, and the one that will follow it. */
  #namesSynced: Promise<unknown> = Promise.resolve();
  #nextSync: Promise<void> | undefined;

  constructor(files: string) {
    this.#folder = join(files, 'spool');
  }

  /** Where a source is, if it is there; `id` must be one that was made here. */
  pathOf(id: string): string {
    return join(this.#folder, `${id}.eml`);
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** A file that vanishes at its disposal unless it was kept. */
  async create(id: string): Promise<SpoolFile> {
    const path = this.pathOf(id);
    const file = await open(path, 'wx', 0o600);
    const hash = createHash('sha256');
    let kept = false;
    return {
      async write(chunk) {
        hash.update(chunk);
        for (let done = 0; done < chunk.length;) done += (await file.write(chunk, done)).bytesWritten;
      },
      keep: async () => {
        await Promise.all([file.sync(), this.#syncNames()]);
        kept = true;
        return hash.digest('hex');
      },
      async [Symbol.asyncDispose]() {
        await file.close();
        if (!kept) await rm(path, { force: true });
      },
    };
  }

  /** One sync serves all who wait for it; one that has begun may miss the newest name. */
  #syncNames(): Promise<void> {
    this.#nextSync ??= this.#namesSynced.then(() => {
      this.#nextSync = undefined;
      const sync = this.#syncFolder();
      this.#namesSynced = Promise.allSettled([sync]);
      return sync;
    });
    return this.#nextSync;
  }

  /** Makes the names of new files durable. Windows keeps them with the files and opens no folder for this. */
  async #syncFolder(): Promise<void> {
    if (process.platform === 'win32') return;
    const folder = await open(this.#folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Undefined when there is no such file. */
  async read(id: string): Promise<Uint8Array | undefined> {
    try {
      return await readFile(this.pathOf(id));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The first bytes of a source; undefined when there is none. */
  async head(id: string, bytes: number): Promise<Uint8Array | undefined> {
    const file = await open(this.pathOf(id), 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (file === undefined) return undefined;
    await using opened = file;
    const { bytesRead, buffer } = await opened.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }

  /** Ids of files last written before `time`, in ms since the epoch. */
  async listBefore(time: number): Promise<readonly string[]> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.eml'));
    const ages = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.#folder, name))).mtimeMs })),
    );
    return ages.filter(({ at }) => at < time).map(({ name }) => name.slice(0, -'.eml'.length));
  }
}
