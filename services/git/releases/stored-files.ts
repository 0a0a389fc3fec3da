import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { assetFolder } from '../repositories/file-folders.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';

export type FileOwner = Pick<Repository, 'folder'>;
type Table = 'release_assets' | 'issue_attachments';

/** Row of a file, without the columns of its owner. */
export interface StoredFile {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** Public name, and the file name on disk. */
  readonly uuid: string;
  readonly downloads: number;
  readonly created_at: number;
}

/** Files of releases or issues, each with a row in a table. */
export class StoredFiles<Name extends Table> {
  readonly #context: Pick<Context, 'commit' | 'files'>;
  readonly #table: 'release_assets';

  constructor(context: Pick<Context, 'commit' | 'files'>, table: Name) {
    this.#context = context;
    // Only columns that both tables have are used.
    this.#table = table as 'release_assets';
  }

  /**
   * Writes the file and then the row that `insert` creates. If it rejects, nothing is stored.
   * @throws Problem `git.too_large` (413)
   */
  async store<Row>(
    path: string,
    input: Readable,
    insert: (transaction: Kysely<Tables>, size: number) => Promise<Row>,
    maxBytes = Number.MAX_SAFE_INTEGER,
  ): Promise<Row> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (input.destroyed) throw new Problem('git.bad_upload', 400, 'No file was uploaded: the upload was cut off.');
    let size = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        size += chunk.length;
        callback(size > maxBytes ? buildFileTooLargeProblem() : null, chunk);
      },
    });
    try {
      await pipeline(input, measure, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
      return await this.#context.commit((transaction: Kysely<Tables>) => insert(transaction, size));
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  async rename<Row extends StoredFile>({ id }: Row, name: string): Promise<Row> {
    const row: StoredFile = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.updateTable(this.#table).set({ name }).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),
    );
    return row as Row;
  }

  async remove(owner: FileOwner, { id, uuid }: StoredFile): Promise<void> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.deleteFrom(this.#table).where('id', '=', id).execute(),
    );
    await rm(this.getPath(owner, uuid), { force: true });
  }

  /** Returns the path of a file for sending and counts the download. */
  async recordDownload(owner: FileOwner, { id, uuid }: StoredFile): Promise<string> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable(this.#table)
        .set((is) => ({ downloads: is('downloads', '+', 1) }))
        .where('id', '=', id)
        .execute(),
    );
    return this.getPath(owner, uuid);
  }

  /** Returns the path of a file. */
  getPath({ folder }: FileOwner, uuid: string): string {
    return join(assetFolder(this.#context.files, folder), uuid);
  }
}

export function buildFileTooLargeProblem(): Problem {
  return new Problem('git.too_large', 413, 'This file is too large.');
}
