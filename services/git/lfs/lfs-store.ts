import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { diskFull, isDiskFull } from '../engine/disk-full.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';

/** A large file as clients name it. */
export interface LfsObject {
  /** SHA-256 of its bytes, in hexadecimal digits. */
  readonly oid: string;
  readonly size: number;
}

/** Whether a client's words name a large file. */
export function isLfsObject({ oid, size }: { readonly oid: string; readonly size: number }): boolean {
  return /^[0-9a-f]{64}$/.test(oid) && Number.isSafeInteger(size) && size >= 0;
}

export interface LfsLimits {
  /** Bytes of all large files of one repository; 0: no limit. */
  readonly quota: () => number;
}

/** Of what is sent too much so much is read and dropped, bytes. */
const mostDrained = 1024 * 1024;

type Owner = Pick<Repository, 'id' | 'folder'>;

/** The large files of repositories: a file each, by the hash of what is in it, and a row once it is whole and on the disk. */
export class LfsStore {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'files' | 'random'>;
  readonly #db: Kysely<Tables>;
  readonly #limits: LfsLimits;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'files' | 'random'>, limits: LfsLimits) {
    this.#context = context;
    this.#db = context.db;
    this.#limits = limits;
  }

  /** Removes what uploads left that ended with a killed host. Call before any begins. */
  async clean(): Promise<void> {
    await rm(this.#incoming, { recursive: true, force: true });
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
  }

  /** The sizes of those that are here. */
  async sizes({ id }: Pick<Owner, 'id'>, oids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (let at = 0; at < oids.length; at += 500) {
      const rows = await this.#db
        .selectFrom('lfs_objects')
        .select(['oid', 'size'])
        .where('repository_id', '=', id)
        .where('oid', 'in', oids.slice(at, at + 500))
        .execute();
      for (const { oid, size } of rows) found.set(oid, size);
    }
    return found;
  }

  /** Bytes of all of a repository's. */
  async total({ id }: Pick<Owner, 'id'>): Promise<number> {
    const row = await this.#db
      .selectFrom('lfs_objects')
      .select((is) => is.fn.sum<number | null>('size').as('total'))
      .where('repository_id', '=', id)
      .executeTakeFirst();
    return Number(row?.total ?? 0);
  }

  /** @throws Problem `git.lfs_quota` (507) when so many bytes more are too many. */
  async checkQuota(repository: Pick<Owner, 'id'>, more: number): Promise<void> {
    const quota = this.#limits.quota();
    if (quota === 0 || (await this.total(repository)) + more <= quota) return;
    const limit = `${Math.floor(quota / 1024 / 1024)} MiB`;
    throw new Problem(
      'git.lfs_quota',
      507,
      `The large files of this repository would exceed ${limit}, which is the limit here.`,
      { retryable: false },
    );
  }

  /**
   * Takes a file in. It is there when this resolves, and nothing of it when it rejects.
   * @throws Problem `git.lfs_mismatch` (422), `git.lfs_quota`, `git.disk_full` (507)
   */
  async receive(repository: Owner, { oid, size }: LfsObject, input: Readable): Promise<void> {
    await this.checkQuota(repository, size);
    const path = join(this.#incoming, this.#context.random.text(20));
    try {
      const hash = createHash('sha256');
      let count = 0;
      const measure = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          count += chunk.length;
          hash.update(chunk);
          if (count > size) done(mismatch('content size does not match'));
          else done(null, chunk);
        },
      });
      try {
        // `flush`: it is on the disk when the stream is over.
        await pipeline(kept(input), measure, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
      } catch (error) {
        // Who still sends would not hear why.
        await drain(input, size - count + mostDrained);
        throw error;
      }
      if (hash.digest('hex') !== oid) throw mismatch('content hash does not match OID');
      if (count !== size) throw mismatch('content size does not match');
      const target = this.#path(repository, oid);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(path, target);
      await syncFolder(dirname(target));
      await this.#remember(repository, { oid, size });
    } catch (error) {
      await rm(path, { force: true });
      throw isDiskFull(error) ? diskFull(error) : error;
    }
  }

  /** Its bytes from one to another, both included. Ask {@link sizes} first. */
  read(repository: Owner, oid: string, range?: { readonly start: number; readonly end: number }): Readable {
    return createReadStream(this.#path(repository, oid), range ?? {});
  }

  /** The file that has the content of a pointer; undefined where its content was never uploaded. */
  async fileOf(repository: Owner, object: LfsObject): Promise<string | undefined> {
    return (await this.isWhole(repository, object)) ? this.#path(repository, object.oid) : undefined;
  }

  /** Gives a repository all the large files of another one, without copying their bytes where the disk can do so. */
  async share(from: Owner, to: Owner): Promise<void> {
    const rows = await this.#db
      .selectFrom('lfs_objects')
      .select(['oid', 'size'])
      .where('repository_id', '=', from.id)
      .execute();
    for (const row of rows) {
      const source = this.#path(from, row.oid);
      const target = this.#path(to, row.oid);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await link(source, target).catch(() => copyFile(source, target));
      await this.#remember(to, row);
    }
  }

  /** All of a repository's, with where they lie. */
  async all(repository: Owner): Promise<readonly (LfsObject & { readonly path: string })[]> {
    const rows = await this.#db
      .selectFrom('lfs_objects')
      .select(['oid', 'size'])
      .where('repository_id', '=', repository.id)
      .orderBy('oid')
      .execute();
    return rows.map((row) => ({ ...row, path: this.#path(repository, row.oid) }));
  }

  /** Whether its file is as long as its row says. */
  async isWhole(repository: Owner, { oid, size }: LfsObject): Promise<boolean> {
    return (await stat(this.#path(repository, oid)).catch(() => undefined))?.size === size;
  }

  get #incoming(): string {
    return join(this.#context.files, 'lfs', 'incoming');
  }

  #path({ folder }: Owner, oid: string): string {
    return join(lfsFolder(this.#context.files, folder), oid.slice(0, 2), oid.slice(2, 4), oid);
  }

  async #remember({ id }: Owner, { oid, size }: LfsObject): Promise<void> {
    const { clock, commit } = this.#context;
    await commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('lfs_objects')
        .values({ repository_id: id, oid, size, created_at: clock.now() })
        .onConflict((conflict) => conflict.columns(['repository_id', 'oid']).doUpdateSet({ size }))
        .execute(),
    );
  }
}

/** Where the large files of a repository lie, below the service's own folder. */
export function lfsFolder(files: string, folder: string): string {
  return join(files, 'lfs', 'objects', folder.slice(0, 2), folder);
}

/** What a stream brings, for who may give up without ending the stream itself; its breaking off is handed on. */
function kept(input: Readable): Readable {
  const through = new PassThrough();
  const cut = (): void => {
    if (!input.readableEnded) through.destroy(new Error('the upload was cut off'));
  };
  input.on('error', cut).on('close', cut);
  if (input.destroyed) cut();
  return input.pipe(through);
}

async function drain(input: Readable, most: number): Promise<void> {
  input.unpipe();
  let left = most;
  await new Promise<void>((resolve) => {
    if (input.destroyed || input.readableEnded) return resolve();
    input.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) input.destroy();
    });
    input.once('end', resolve).once('close', resolve).once('error', resolve);
    input.resume();
  });
}

async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders; there the rename itself is on the disk.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function mismatch(detail: string): Problem {
  return new Problem('git.lfs_mismatch', 422, detail);
}
