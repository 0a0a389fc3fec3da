import type { Kysely } from 'kysely';
import type { HeldFile } from '../domain/message.ts';

interface Tables {
  attachments: { id: string; name: string; type: string; size: number; expires: number; sender: string };
}

/** The files that this server keeps, by the id of their message; times in unix seconds, sizes in bytes. */
export class AttachmentStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async insert(transaction: Kysely<Tables>, files: readonly HeldFile[]): Promise<void> {
    if (files.length > 0) await transaction.insertInto('attachments').values(files).execute();
  }

  /** Records those whose id is not there yet; answers how many those were. */
  async insertMissing(transaction: Kysely<Tables>, files: readonly HeldFile[]): Promise<number> {
    if (files.length === 0) return 0;
    const rows = await transaction
      .insertInto('attachments')
      .values(files)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .execute();
    return rows.length;
  }

  /** Gives a file that waits under `draft` to its sender, until `expires`; undefined when there is none. */
  async claim(
    transaction: Kysely<Tables>,
    given: { id: string; draft: string; sender: string; name: string; expires: number; now: number },
  ): Promise<HeldFile | undefined> {
    const { id, draft, sender, name, expires, now } = given;
    return transaction
      .updateTable('attachments')
      .set({ sender, expires, ...(name === '' ? {} : { name }) })
      .where('id', '=', id)
      .where('sender', '=', draft)
      .where('expires', '>', now)
      .returningAll()
      .executeTakeFirst();
  }

  async find(id: string, now: number): Promise<HeldFile | undefined> {
    return this.#db
      .selectFrom('attachments')
      .selectAll()
      .where('id', '=', id)
      .where('expires', '>', now)
      .executeTakeFirst();
  }

  /** Bytes of all files, or of those of one sender. */
  async size(sender?: string): Promise<number> {
    const row = await this.#db
      .selectFrom('attachments')
      .select(({ fn }) => fn.sum<number | null>('size').as('size'))
      .$if(sender !== undefined, (query) => query.where('sender', '=', sender ?? ''))
      .executeTakeFirst();
    return Number(row?.size ?? 0);
  }

  /** Forgets up to `limit` files that have expired; answers their ids. */
  async removeExpired(transaction: Kysely<Tables>, now: number, limit: number): Promise<readonly string[]> {
    const due = transaction.selectFrom('attachments').select('id').where('expires', '<=', now).limit(limit);
    const rows = await transaction.deleteFrom('attachments').where('id', 'in', due).returning('id').execute();
    return rows.map(({ id }) => id);
  }

  /** Forgets files of messages that will never be. */
  async remove(transaction: Kysely<Tables>, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await transaction.deleteFrom('attachments').where('id', 'in', ids).execute();
  }

  /** Those of `ids` that are known. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const rows = await this.#db.selectFrom('attachments').select('id').where('id', 'in', ids).execute();
    return new Set(rows.map(({ id }) => id));
  }
}
