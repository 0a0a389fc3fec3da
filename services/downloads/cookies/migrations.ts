import type { Migration } from '../../contracts/service.ts';

export const cookieMigrations: readonly Migration[] = [
  {
    name: '021-cookies',
    async up(db) {
      // The table has one row, or none without cookies.
      await db.schema
        .createTable('downloads_cookies')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .addColumn('sites', 'text', (column) => column.notNull())
        .addColumn('count', 'integer', (column) => column.notNull())
        .addColumn('uploaded_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
];
