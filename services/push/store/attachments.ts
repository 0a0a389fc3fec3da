import type { Kysely } from 'kysely';
import type { StoredFile } from '../domain/message.ts';

interface Tables {
  attachments: { id: string; name: string; type: string; size: number; expires: number; sender: string };
}

/** Attachments that this server stores, by message id. Times are unix seconds, sizes bytes. */
export class AttachmentStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async insert(transaction: Kysely<Tables>, files: readonly StoredFile[]): Promise<void> {
    if (files.length > 0) await transaction.insertInto('attachments').values(files).execute();
  }

  /** Inserts the files whose id does not exist yet and returns their number. */
  async insertMissing(transaction: Kysely<Tables>, files: readonly StoredFile[]): Promise<number> {
    if (files.length === 0) return 0;
    const rows = await transaction
      .insertInto('attachments')
      .values(files)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute();
    return rows.length;
  }

  /**
   * Assigns a file uploaded as `draft` to its sender, until `expires`. Returns undefined when there is no such draft.
   */
  async claim(
    transaction: Kysely<Tables>,
    claim: { id: string; draft: string; sender: string; name: string; expires: number; now: number },
  ): Promise<StoredFile | undefined> {
    const { id, draft, sender, name, expires, now } = claim;
    return transaction
      .updateTable('attachments')
      .set({ sender, expires, ...(name === '' ? {} : { name }) })
      .where('id', '=', id)
      .where('sender', '=', draft)
      .where('expires', '>', now)
      .returningAll()
      .executeTakeFirst();
  }

  async find(id: string, now: number): Promise<StoredFile | undefined> {
    return this.#db
      .selectFrom('attachments')
      .selectAll()
      .where('id', '=', id)
      .where('expires', '>', now)
      .executeTakeFirst();
  }

  /** Returns the total size of all files, or of the files of one sender, in bytes. */
  async size(sender?: string): Promise<number> {
    const row = await this.#db
      .selectFrom('attachments')
      .select(({ fn }) => fn.sum<number | null>('size').as('size'))
      .$if(sender !== undefined, (query) => query.where('sender', '=', sender ?? ''))
      .executeTakeFirst();
    return Number(row?.size ?? 0);
  }

  /** Deletes up to `limit` expired files and returns their ids. */
  async removeExpired(transaction: Kysely<Tables>, now: number, limit: number): Promise<readonly string[]> {
    const due = transaction.selectFrom('attachments').select('id').where('expires', '<=', now).limit(limit);
    const rows = await transaction.deleteFrom('attachments').where('id', 'in', due).returning('id').execute();
    return rows.map(({ id }) => id);
  }

  /** Deletes files of messages that were not published. */
  async remove(transaction: Kysely<Tables>, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await transaction.deleteFrom('attachments').where('id', 'in', ids).execute();
  }

  /** Returns the ids that exist. */
  async existingIds(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#db.selectFrom('attachments').select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }
}
