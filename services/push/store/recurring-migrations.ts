import type { Migration } from '../../contracts/service.ts';

/** Table of recurring messages. */
export const recurringMigrations: readonly Migration[] = [
  {
    name: '031-create-recurring',
    async up(db) {
      await db.schema
        .createTable('recurring')
        .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('topic', 'text', (column) => column.notNull())
        // JSON with the other fields of the message: title, text, priority and so on.
        .addColumn('content', 'text', (column) => column.notNull())
        .addColumn('rule', 'text', (column) => column.notNull())
        .addColumn('zone', 'text', (column) => column.notNull())
        .addColumn('starts', 'integer')
        .addColumn('ends', 'integer')
        .addColumn('missed', 'text', (column) => column.notNull())
        .addColumn('enabled', 'integer', (column) => column.notNull())
        .addColumn('next', 'integer')
        .addColumn('last', 'integer')
        .addColumn('trouble', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('recurring_next').on('recurring').column('next').execute();
      await db.schema.createIndex('recurring_last').on('recurring').column('last').execute();
      await db.schema.createIndex('recurring_account').on('recurring').columns(['account', 'seq']).execute();
    },
  },
  {
    name: '034-rename-recurring-error',
    async up(db) {
      await db.schema.alterTable('recurring').renameColumn('trouble', 'error').execute();
    },
  },
];
