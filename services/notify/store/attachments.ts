import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { StoredFile } from '../attachments/folder.ts';
import type { NotifyTables } from './tables.ts';

/** A file of a notice, until its last delivery. */
export interface AttachmentTable {
  notice_id: string;
  /** Its place among the files of the notice, from 0. */
  place: number;
  /** Name within the service's folder of attachments. */
  file: string;
  name: string;
  type: string;
  /** In bytes. */
  size: number;
}

export const attachmentsAndHops: Migration = {
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

/** Which files belong to which notice. */
export class AttachmentStore {
  readonly #db: Kysely<NotifyTables>;

  constructor(db: Kysely<NotifyTables>) {
    this.#db = db;
  }

  async add(transaction: Kysely<NotifyTables>, noticeId: string, files: readonly StoredFile[]): Promise<void> {
    if (files.length === 0) return;
    const rows = files.map((each, place) => ({ notice_id: noticeId, place, ...each }));
    await transaction.insertInto('attachments').values(rows).execute();
  }

  async of(noticeId: string): Promise<readonly StoredFile[]> {
    const rows = await this.#db
      .selectFrom('attachments')
      .select(['file', 'name', 'type', 'size'])
      .where('notice_id', '=', noticeId)
      .orderBy('place')
      .execute();
    return rows.map((row) => ({ ...row, size: Number(row.size) }));
  }

  /** Lets go of the files of a notice of which every delivery was made. Returns their names, for removal. */
  async release(noticeId: string): Promise<readonly string[]> {
    const rows = await this.#db
      .deleteFrom('attachments')
      .where('notice_id', '=', noticeId)
      .where('notice_id', 'not in', this.#open())
      .returning('file')
      .execute();
    return rows.map(({ file }) => file);
  }

  /** Names of all files that are still needed; those of finished notices are let go first. */
  async needed(): Promise<ReadonlySet<string>> {
    await this.#db.deleteFrom('attachments').where('notice_id', 'not in', this.#open()).execute();
    const rows = await this.#db.selectFrom('attachments').select('file').execute();
    return new Set(rows.map(({ file }) => file));
  }

  #open() {
    return this.#db.selectFrom('deliveries').select('deliveries.notice_id').where('deliveries.state', '!=', 'done');
  }
}
