import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

/** Pending transfers of repositories to another owner. */
export interface TransferTables {
  transfers: { repository_id: number; owner_id: number; account: string; created_at: number };
}

export const transferMigration: Migration = {
  name: '012-transfers-create',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('transfers')
      .addColumn('repository_id', 'integer', (column) =>
        column.primaryKey().notNull().references('repositories.id').onDelete('cascade'),
      )
      .addColumn('owner_id', 'integer', (column) => column.notNull().references('owners.id').onDelete('cascade'))
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .execute();
  },
};
