import * as m from '#messages/git-problems';
import type { Readable } from 'node:stream';
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
  readonly #context: Pick<Context, 'blobs' | 'commit' | 'log'>;
  readonly #table: 'release_assets';

  constructor(context: Pick<Context, 'blobs' | 'commit' | 'log'>, table: Name) {
    this.#context = context;
    // Only columns that both tables have are used.
    this.#table = table as 'release_assets';
  }

  /**
   * Writes the file and then the row that `insert` creates. If it rejects, nothing is stored.
   * @throws Problem `git.too_large` (413)
   */
  async store<Row>(
    key: string,
    input: Readable,
    insert: (transaction: Kysely<Tables>, size: number) => Promise<Row>,
    maxBytes = Number.MAX_SAFE_INTEGER,
  ): Promise<Row> {
    if (input.destroyed) throw new Problem('git.bad_upload', 400, m.uploadCutOff());
    const { size } = await this.#context.blobs.write(key, limitSize(input, maxBytes));
    try {
      return await this.#context.commit((transaction: Kysely<Tables>) => insert(transaction, size));
    } catch (error) {
      await this.deleteBlobs([key]);
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
    await this.deleteBlobs([this.getKey(owner, uuid)]);
  }

  /** Deletes files without a row. Those that cannot be deleted now remain until their repository is deleted. */
  async deleteBlobs(keys: readonly string[]): Promise<void> {
    try {
      await this.#context.blobs.remove(keys);
    } catch (error) {
      this.#context.log.warn('file deletion failed', { error });
    }
  }

  /** Returns the key of a file for sending and counts the download. */
  async recordDownload(owner: FileOwner, { id, uuid }: StoredFile): Promise<string> {
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable(this.#table)
        .set((is) => ({ downloads: is('downloads', '+', 1) }))
        .where('id', '=', id)
        .execute(),
    );
    return this.getKey(owner, uuid);
  }

  /** Returns the key of a file among the service's blobs. */
  getKey({ folder }: FileOwner, uuid: string): string {
    return `${assetFolder(folder)}/${uuid}`;
  }
}

/** @throws Problem `git.too_large` (413) when the content exceeds the limit */
async function* limitSize(input: Readable, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw buildFileTooLargeProblem();
    yield chunk;
  }
}

export function buildFileTooLargeProblem(): Problem {
  return new Problem('git.too_large', 413, m.fileTooLarge());
}
