import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { StoredFile } from '../attachments/folder.ts';
import type { NotifyTables } from './tables.ts';

/** Values that go into one statement. */
const batch = 1000;

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
  readonly #keptBytes: () => number;

  /** `keptBytes`: how much is kept of notices of which every delivery was made, the newest first. */
  constructor(db: Kysely<NotifyTables>, keptBytes = (): number => 0) {
    this.#db = db;
    this.#keptBytes = keptBytes;
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

  /** Lets go of files when every delivery of a notice was made, as far as there is no room for them. Returns their names, for removal. */
  async release(noticeId: string): Promise<readonly string[]> {
    if (this.#keptBytes() > 0) return this.#makeRoom();
    const rows = await this.#db
      .deleteFrom('attachments')
      .where('notice_id', '=', noticeId)
      .where('notice_id', 'not in', this.#open())
      .returning('file')
      .execute();
    return rows.map(({ file }) => file);
  }

  /** Names of all files that are still needed; those of finished notices there is no room for are let go first. */
  async needed(): Promise<ReadonlySet<string>> {
    await this.#makeRoom();
    const rows = await this.#db.selectFrom('attachments').select('file').execute();
    return new Set(rows.map(({ file }) => file));
  }

  /** Of finished notices the newest keep their files, each all or none. */
  async #makeRoom(): Promise<readonly string[]> {
    const rows = await this.#db
      .selectFrom('attachments')
      .innerJoin('notices', 'notices.id', 'attachments.notice_id')
      .select(({ fn }) => ['attachments.notice_id', fn.sum<number | string>('size').as('bytes')])
      .where('attachments.notice_id', 'not in', this.#open())
      .groupBy(['attachments.notice_id', 'notices.created_at'])
      .orderBy('notices.created_at', 'desc')
      .execute();
    const kept = this.#keptBytes();
    let room = kept;
    const late = rows.filter(({ bytes }) => kept === 0 || (room -= Number(bytes)) < 0);
    const removed: string[] = [];
    for (let start = 0; start < late.length; start += batch) {
      const ids = late.slice(start, start + batch).map(({ notice_id }) => notice_id);
      const gone = await this.#db.deleteFrom('attachments').where('notice_id', 'in', ids).returning('file').execute();
      removed.push(...gone.map(({ file }) => file));
    }
    return removed;
  }

  #open() {
    return this.#db.selectFrom('deliveries').select('deliveries.notice_id').where('deliveries.state', '!=', 'done');
  }
}
