import * as m from '#messages/git-problems';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import type { Kysely } from 'kysely';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { BlobRange } from '../../contracts/blobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
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
/** Maximum number of objects whose blobs are looked up at the same time. */
const maxConcurrentChecks = 16;
/** Seconds for which the address of a direct download is valid; large objects of a batch wait for each other. */
export const linkLifetimeSeconds = 3600;

type Owner = Pick<Repository, 'id' | 'folder'>;

/**
 * LFS objects of repositories. Each is a blob named by its hash. Its row is written after the blob is durable.
 */
export class LfsStore {
  readonly #context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'files' | 'log'>;
  readonly #db: Kysely<Tables>;
  readonly #limits: LfsLimits;

  constructor(context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'db' | 'files' | 'log'>, limits: LfsLimits) {
    this.#context = context;
    this.#db = context.db;
    this.#limits = limits;
  }

  /** Removes files of interrupted uploads to an earlier version. */
  async clean(): Promise<void> {
    await removeTree(join(this.#context.files, 'lfs', 'incoming'));
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
    throw new Problem('git.lfs_quota', 507, () => m.lfsQuotaExceeded({ limit }), { retryable: false });
  }

  /**
   * Returns those of the objects that must be uploaded again because they are damaged, incomplete or lost. Objects whose
   * store does not respond count as usable, since they could not be uploaded either.
   */
  async findUnusable(repository: Owner, objects: readonly LfsObject[]): Promise<ReadonlySet<string>> {
    const damaged = await this.#findDamaged(
      repository,
      objects.map(({ oid }) => oid),
    );
    const unusable = new Set(damaged);
    for (let index = 0; index < objects.length; index += maxConcurrentChecks) {
      const part = objects.slice(index, index + maxConcurrentChecks);
      const results = await Promise.all(part.map((object) => this.#isUsable(repository, object)));
      part.filter((_object, number) => results[number] === false).forEach(({ oid }) => unusable.add(oid));
    }
    return unusable;
  }

  async #isUsable(repository: Owner, object: LfsObject): Promise<boolean> {
    try {
      return await this.isComplete(repository, object);
    } catch (error) {
      if (error instanceof Problem && error.code === 'blobs.unavailable') return true;
      throw error;
    }
  }

  async #findDamaged({ id }: Pick<Owner, 'id'>, oids: readonly string[]): Promise<readonly string[]> {
    const damaged: string[] = [];
    for (let index = 0; index < oids.length; index += 500) {
      const rows = await this.#db
        .selectFrom('lfs_objects')
        .select('oid')
        .where('repository_id', '=', id)
        .where('oid', 'in', oids.slice(index, index + 500))
        .where('damaged_at', 'is not', null)
        .execute();
      damaged.push(...rows.map(({ oid }) => oid));
    }
    return damaged;
  }

  /**
   * Stores an object. If it rejects, nothing is stored.
   * @throws Problem `git.lfs_mismatch` (422), `git.lfs_quota`, `git.disk_full` (507)
   */
  async receive(repository: Owner, { oid, size }: LfsObject, input: Readable): Promise<void> {
    await this.checkQuota(repository, size);
    const content = new UploadedContent(input, size);
    const isRepair = (await this.#findDamaged(repository, [oid])).length > 0;
    try {
      await this.#context.blobs.write(this.#getKey(repository, oid), content.read(), {
        sha256: oid,
        contentSize: size,
        isRepair,
      });
    } catch (error) {
      // Read the rest of the upload so that the client can read the response.
      await drain(input, size - content.receivedBytes + maxDrainedBytes);
      if (error instanceof Problem && error.code === 'blobs.mismatch')
        throw buildMismatchProblem(
          content.receivedBytes === size ? 'content hash does not match OID' : 'content size does not match',
        );
      throw isDiskFull(error) ? buildDiskFullProblem(error) : error;
    }
    await this.#insertRow(repository, { oid, size });
  }

  /**
   * Opens an object for reading, optionally a byte range. Check {@link sizes} first. The stream of a complete object fails
   * before its end if the content is damaged; clients can then upload the object again.
   */
  async read(repository: Owner, oid: string, range?: BlobRange): Promise<Readable> {
    const content = await this.#context.blobs.read(this.#getKey(repository, oid), { range, sha256: oid });
    return content.once('error', (error) => {
      if (error instanceof Problem && error.code === 'blobs.damaged') void this.#markDamaged(repository, oid);
    });
  }

  async #markDamaged({ id }: Pick<Owner, 'id'>, oid: string): Promise<void> {
    const { clock, commit, log } = this.#context;
    log.error('LFS object damaged', { repository: id, oid });
    try {
      await commit((transaction: Kysely<Tables>) =>
        transaction
          .updateTable('lfs_objects')
          .set({ damaged_at: clock.now() })
          .where('repository_id', '=', id)
          .where('oid', '=', oid)
          .execute(),
      );
    } catch (error) {
      log.warn('damaged LFS object not recorded', { oid, error });
    }
  }

  /** Returns the key of an object among the blobs, or undefined if it was never uploaded. */
  async findKey(repository: Owner, object: LfsObject): Promise<string | undefined> {
    return (await this.isComplete(repository, object)) ? this.#getKey(repository, object.oid) : undefined;
  }

  /** Returns an address for a direct download; undefined unless such downloads are enabled. */
  link(repository: Owner, oid: string): Promise<string | undefined> {
    return this.#context.blobs.link(this.#getKey(repository, oid), {
      type: 'application/octet-stream',
      disposition: 'attachment',
      lifetime: linkLifetimeSeconds,
    });
  }

  /** Shares all objects of a repository with another one, without further space if the store supports it. */
  async share(from: Owner, to: Owner): Promise<void> {
    const { blobs } = this.#context;
    for (const { key, ...object } of await this.listObjects(from)) {
      // Objects are named by their content; an existing one of another size is an interrupted copy.
      if (!(await this.isComplete(to, object))) {
        const target = this.#getKey(to, object.oid);
        await blobs.remove([target]);
        // A lost object stays missing, and can be uploaded again.
        if (!(await blobs.copy(key, target))) continue;
      }
      await this.#insertRow(to, object);
    }
  }

  /** Lists all objects of a repository with their keys among the blobs. */
  async listObjects(repository: Owner): Promise<readonly (LfsObject & { readonly key: string })[]> {
    const rows = await this.#db
      .selectFrom('lfs_objects')
      .select(['oid', 'size'])
      .where('repository_id', '=', repository.id)
      .orderBy('oid')
      .execute();
    return rows.map((row) => ({ ...row, key: this.#getKey(repository, row.oid) }));
  }

  /** Returns true if the blob has the expected size. */
  async isComplete(repository: Owner, { oid, size }: LfsObject): Promise<boolean> {
    return (await this.#context.blobs.find(this.#getKey(repository, oid)))?.size === size;
  }

  #getKey({ folder }: Owner, oid: string): string {
    return `${lfsFolder(folder)}/${oid.slice(0, 2)}/${oid.slice(2, 4)}/${oid}`;
  }

  async #insertRow({ id }: Owner, { oid, size }: LfsObject): Promise<void> {
    const { clock, commit } = this.#context;
    await commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('lfs_objects')
        .values({ repository_id: id, oid, size, created_at: clock.now() })
        .onConflict((conflict) => conflict.columns(['repository_id', 'oid']).doUpdateSet({ size, damaged_at: null }))
        .execute(),
    );
  }
}

/** Content of an upload, which ends early if it exceeds its size. */
class UploadedContent {
  readonly #input: Readable;
  readonly #size: number;
  receivedBytes = 0;

  constructor(input: Readable, size: number) {
    this.#input = input;
    this.#size = size;
  }

  /** @throws Problem `git.lfs_mismatch` (422) */
  async *read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of pipeWithoutDestroy(this.#input) as AsyncIterable<Buffer>) {
      this.receivedBytes += chunk.length;
      if (this.receivedBytes > this.#size) throw buildMismatchProblem('content size does not match');
      yield chunk;
    }
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
