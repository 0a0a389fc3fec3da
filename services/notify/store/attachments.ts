import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { StoredFile } from '../attachments/folder.ts';
import type { NotifyTables } from './tables.ts';

/** Maximum number of values in one statement. */
const batchSize = 1000;

export const attachmentTable: Migration = {
  name: '005-add-attachments',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('attachments')
      .addColumn('notice_id', 'text', (column) => column.notNull().references('notices.id').onDelete('cascade'))
      .addColumn('place', 'integer', (column) => column.notNull())
      .addColumn('file', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('attachments_key', ['notice_id', 'place'])
      .execute();
    for (const column of ['files', 'hops']) {
      await db.schema
        .alterTable('notices')
        .addColumn(column, 'integer', (each) => each.notNull().defaultTo(0))
        .execute();
    }
  },
};

/** Stores the attachments of notifications. */
export class AttachmentStore {
  readonly #db: Kysely<NotifyTables>;
  readonly #getRetainedBytes: () => number;

  /** `getRetainedBytes` returns how many bytes are retained for delivered notifications, the newest first. */
  constructor(db: Kysely<NotifyTables>, getRetainedBytes = (): number => 0) {
    this.#db = db;
    this.#getRetainedBytes = getRetainedBytes;
  }

  async add(transaction: Kysely<NotifyTables>, notificationId: string, files: readonly StoredFile[]): Promise<void> {
    if (files.length === 0) return;
    const rows = files.map((each, index) => ({ notice_id: notificationId, place: index, ...each }));
    await transaction.insertInto('attachments').values(rows).execute();
  }

  async list(notificationId: string): Promise<readonly StoredFile[]> {
    const rows = await this.#db
      .selectFrom('attachments')
      .select(['file', 'name', 'type', 'size'])
      .where('notice_id', '=', notificationId)
      .orderBy('place')
      .execute();
    return rows.map((row) => ({ ...row, size: Number(row.size) }));
  }

  /** Deletes the files of a delivered notification that exceed the retained size. Returns their names, for removal. */
  async deleteDelivered(notificationId: string): Promise<readonly string[]> {
    if (this.#getRetainedBytes() > 0) return this.#deleteExcess();
    const rows = await this.#db
      .deleteFrom('attachments')
      .where('notice_id', '=', notificationId)
      .where('notice_id', 'not in', this.#selectUndelivered())
      .returning('file')
      .execute();
    return rows.map(({ file }) => file);
  }

  /** Returns the names of all retained files, after deleting those that exceed the retained size. */
  async listRetained(): Promise<ReadonlySet<string>> {
    await this.#deleteExcess();
    const rows = await this.#db.selectFrom('attachments').select('file').execute();
    return new Set(rows.map(({ file }) => file));
  }

  /**
   * Deletes the oldest files of delivered notifications above the retained size; a notification keeps all its files
   * or none.
   */
  async #deleteExcess(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('attachments')
      .innerJoin('notices', 'notices.id', 'attachments.notice_id')
      .select(({ fn }) => ['attachments.notice_id', fn.sum<number | string>('size').as('bytes')])
      .where('attachments.notice_id', 'not in', this.#selectUndelivered())
      .groupBy(['attachments.notice_id', 'notices.created_at'])
      .orderBy('notices.created_at', 'desc')
      .execute();
    const retainedBytes = this.#getRetainedBytes();
    let remainingBytes = retainedBytes;
    const excess = rows.filter(({ bytes }) => retainedBytes === 0 || (remainingBytes -= Number(bytes)) < 0);
    const removed: string[] = [];
    for (let start = 0; start < excess.length; start += batchSize) {
      const ids = excess.slice(start, start + batchSize).map(({ notice_id }) => notice_id);
      const deletedRows = await this.#db
        .deleteFrom('attachments')
        .where('notice_id', 'in', ids)
        .returning('file')
        .execute();
      removed.push(...deletedRows.map(({ file }) => file));
    }
    return removed;
  }

  #selectUndelivered() {
    return this.#db.selectFrom('deliveries').select('deliveries.notice_id').where('deliveries.state', '!=', 'done');
  }
}
