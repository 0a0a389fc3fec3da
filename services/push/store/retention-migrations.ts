import type { Migration } from '../../contracts/service.ts';

/** How long messages are kept, by topic. */
export const retentionMigrations: readonly Migration[] = [
  {
    name: '033-create-retention',
    async up(db) {
      await db.schema
        .createTable('retention')
        .addColumn('pattern', 'text', (column) => column.primaryKey().notNull())
        .addColumn('seconds', 'integer')
        .addColumn('most', 'integer')
        .execute();
      // One row: how far messages that were there before the rules have been gone through; none when all have.
      await db.schema
        .createTable('retention_progress')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('seq', 'integer', (column) => column.notNull())
        .execute();
    },
  },
];
