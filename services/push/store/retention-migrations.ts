import type { Migration } from '../../contracts/service.ts';

/** Tables for retention rules by topic. */
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
      // Single row: position up to which messages stored before the rules were checked; absent when all were.
      await db.schema
        .createTable('retention_progress')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('seq', 'integer', (column) => column.notNull())
        .execute();
    },
  },
];
