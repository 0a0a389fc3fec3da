import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';

export type FileOwner = Pick<Repository, 'folder'>;
type Table = 'release_assets' | 'issue_attachments';

/** What is known of a file besides what it belongs to. */
export interface StoredFile {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** Its public name and that of its file. */
  readonly uuid: string;
  readonly downloads: number;
  readonly created_at: number;
}

/** Files that people add to something of a repository, with a row in one table each. */
export class StoredFiles<Name extends Table> {
  readonly #context: Pick<Context, 'commit' | 'files'>;
  readonly #table: 'release_assets';

  constructor(context: Pick<Context, 'commit' | 'files'>, table: Name) {
    this.#context = context;
    // What is done here is the same for each table.
    this.#table = table as 'release_assets';
  }

  /**
   * Writes the bytes, then the row that `insert` makes of their size; when this rejects nothing of them remains.
   * @throws Problem `git.too_large` (413)
   */
  async take<Row>(
    path: string,
    input: Readable,
    insert: (transaction: Kysely<Tables>, size: number) => Promise<Row>,
    mostBytes = Number.MAX_SAFE_INTEGER,
  ): Promise<Row> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (input.destroyed) throw new Problem('git.bad_upload', 400, 'No file was uploaded: the upload was cut off.');
    let size = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        done(size > mostBytes ? tooLarge() : null, chunk);
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
    await rm(this.path(owner, uuid), { force: true });
  }

  /** Where its bytes lie, for who sends them; the download is counted. */
  async fetched(owner: FileOwner, { id, uuid }: StoredFile): Promise<string> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable(this.#table)
        .set((is) => ({ downloads: is('downloads', '+', 1) }))
        .where('id', '=', id)
        .execute(),
    );
    return this.path(owner, uuid);
  }

  /** Where the bytes of a file lie. */
  path({ folder }: FileOwner, uuid: string): string {
    return join(assetFolder(this.#context.files, folder), uuid);
  }
}

export function tooLarge(): Problem {
  return new Problem('git.too_large', 413, 'This file is too large.');
}

/** Where such files of a repository lie, below the service's own folder. */
export function assetFolder(files: string, folder: string): string {
  return join(files, 'release-assets', folder.slice(0, 2), folder);
}
