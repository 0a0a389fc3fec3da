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
];
