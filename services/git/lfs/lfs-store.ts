import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { syncFolder } from '../../kit/platform/sync-folder.ts';
import { removeTree, replaceFile } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { linkOrCopy } from '../../kit/hard-links.ts';
import { buildDiskFullProblem, isDiskFull } from '../engine/disk-full.ts';
import { lfsFolder } from '../repositories/file-folders.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';

/** LFS object as clients identify it. */
export interface LfsObject {
  /** SHA-256 of the content in hexadecimal. */
  readonly oid: string;
  readonly size: number;
}

/** Returns true for a valid object ID and size. */
export function isLfsObject({ oid, size }: { readonly oid: string; readonly size: number }): boolean {
  return /^[0-9a-f]{64}$/.test(oid) && Number.isSafeInteger(size) && size >= 0;
}

export interface LfsLimits {
  /** Maximum total size of a repository's objects in bytes; 0 for no limit. */
  readonly quota: () => number;
}

/** Maximum number of excess bytes that are read and discarded. */
const maxDrainedBytes = 1024 * 1024;

type Owner = Pick<Repository, 'id' | 'folder'>;

/**
 * LFS objects of repositories. Each is a file named by its hash. Its row is written after the file is complete on disk.
 */
export class LfsStore {
  readonly #context: Pick<Context, 'clock' | 'commit' | 'files' | 'random'>;
  readonly #db: Kysely<Tables>;
  readonly #limits: LfsLimits;

  constructor(context: Pick<Context, 'clock' | 'commit' | 'db' | 'files' | 'random'>, limits: LfsLimits) {
    this.#context = context;
    this.#db = context.db;
    this.#limits = limits;
  }

  /** Removes files of interrupted uploads. Call it before the first upload. */
  async clean(): Promise<void> {
    await removeTree(this.#incoming);
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
  }

  /** Returns the sizes of the objects that exist. */
  async sizes({ id }: Pick<Owner, 'id'>, oids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (let index = 0; index < oids.length; index += 500) {
      const rows = await this.#db
        .selectFrom('lfs_objects')
        .select(['oid', 'size'])
        .where('repository_id', '=', id)
        .where('oid', 'in', oids.slice(index, index + 500))
        .execute();
      for (const { oid, size } of rows) sizes.set(oid, size);
    }
    return sizes;
  }

  /** Returns the total size of a repository's objects. */
  async totalBytes({ id }: Pick<Owner, 'id'>): Promise<number> {
    const row = await this.#db
      .selectFrom('lfs_objects')
      .select((is) => is.fn.sum<number | null>('size').as('total'))
      .where('repository_id', '=', id)
      .executeTakeFirst();
    return Number(row?.total ?? 0);
  }

  /**
   * Checks that additional bytes do not exceed the quota.
   * @throws Problem `git.lfs_quota` (507)
   */
  async checkQuota(repository: Pick<Owner, 'id'>, additionalBytes: number): Promise<void> {
    const quota = this.#limits.quota();
    if (quota === 0 || (await this.totalBytes(repository)) + additionalBytes <= quota) return;
    const limit = `${Math.floor(quota / 1024 / 1024)} MiB`;
    throw new Problem(
      'git.lfs_quota',
      507,
      `The large files of this repository would exceed ${limit}, which is the limit here.`,
      { retryable: false },
    );
  }

  /**
   * Stores an object. If it rejects, nothing is stored.
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
          if (count > size) done(buildMismatchProblem('content size does not match'));
          else done(null, chunk);
        },
      });
      try {
        // `flush` writes the file to disk before the stream closes.
        await pipeline(
          pipeWithoutDestroy(input),
          measure,
          createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
        );
      } catch (error) {
        // Read the rest of the upload so that the client can read the response.
        await drain(input, size - count + maxDrainedBytes);
        throw error;
      }
      if (hash.digest('hex') !== oid) throw buildMismatchProblem('content hash does not match OID');
      if (count !== size) throw buildMismatchProblem('content size does not match');
      const target = this.#path(repository, oid);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await replaceFile(path, target);
      await syncFolder(dirname(target));
      await this.#insertRow(repository, { oid, size });
    } catch (error) {
      await rm(path, { force: true });
      throw isDiskFull(error) ? buildDiskFullProblem(error) : error;
    }
  }

  /** Opens an object for reading, optionally a byte range with inclusive bounds. Check {@link sizes} first. */
  read(repository: Owner, oid: string, range?: { readonly start: number; readonly end: number }): Readable {
    return createReadStream(this.#path(repository, oid), range ?? {});
  }

  /** Returns the file of an object, or undefined if it was never uploaded. */
  async findFile(repository: Owner, object: LfsObject): Promise<string | undefined> {
    return (await this.isComplete(repository, object)) ? this.#path(repository, object.oid) : undefined;
  }

  /** Shares all objects of a repository with another one, using hard links if the file system supports them. */
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
      // Objects are named by their content; an existing one of another size is an interrupted copy.
      if ((await stat(target).catch(() => undefined))?.size !== row.size) {
        await rm(target, { force: true });
        await linkOrCopy(source, target);
      }
      await this.#insertRow(to, row);
    }
  }

  /** Lists all objects of a repository with their paths. */
  async listObjects(repository: Owner): Promise<readonly (LfsObject & { readonly path: string })[]> {
    const rows = await this.#db
      .selectFrom('lfs_objects')
      .select(['oid', 'size'])
      .where('repository_id', '=', repository.id)
      .orderBy('oid')
      .execute();
    return rows.map((row) => ({ ...row, path: this.#path(repository, row.oid) }));
  }

  /** Returns true if the file has the expected size. */
  async isComplete(repository: Owner, { oid, size }: LfsObject): Promise<boolean> {
    return (await stat(this.#path(repository, oid)).catch(() => undefined))?.size === size;
  }

  get #incoming(): string {
    return join(this.#context.files, 'lfs', 'incoming');
  }

  #path({ folder }: Owner, oid: string): string {
    return join(lfsFolder(this.#context.files, folder), oid.slice(0, 2), oid.slice(2, 4), oid);
  }

  async #insertRow({ id }: Owner, { oid, size }: LfsObject): Promise<void> {
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

/**
 * Pipes the input into another stream, so that a failing consumer does not destroy the input. An aborted upload is
 * passed on as an error.
 */
function pipeWithoutDestroy(input: Readable): Readable {
  const output = new PassThrough();
  const abort = (): void => {
    if (!input.readableEnded) output.destroy(new Error('upload aborted'));
  };
  input.on('error', abort).on('close', abort);
  if (input.destroyed) abort();
  return input.pipe(output);
}

async function drain(input: Readable, maxBytes: number): Promise<void> {
  input.unpipe();
  let remaining = maxBytes;
  await new Promise<void>((resolve) => {
    if (input.destroyed || input.readableEnded) return resolve();
    input.on('data', (chunk: Buffer) => {
      remaining -= chunk.length;
      if (remaining < 0) input.destroy();
    });
    input.once('end', resolve).once('close', resolve).once('error', resolve);
    input.resume();
  });
}

function buildMismatchProblem(detail: string): Problem {
  return new Problem('git.lfs_mismatch', 422, detail);
}
