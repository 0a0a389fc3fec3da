import type { Migration } from '../../contracts/service.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-secrets',
    async up(db) {
      await db.schema
        .createTable('secrets')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '002-create-saved-queries',
    async up(db) {
      await db.schema
        .createTable('saved_queries')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('changed_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('saved_queries_account').on('saved_queries').column('account').execute();
    },
  },
  {
    name: '003-create-snapshots',
    async up(db) {
      await db.schema
        .createTable('snapshots')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('taken_at', 'bigint', (column) => column.notNull())
        .addColumn('content', 'text', (column) => column.notNull())
        .execute();
    },
  },
];
