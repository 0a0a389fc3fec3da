import type { Migration } from '../../contracts/service.ts';

/** Creates the table of proxies, whose fields are sealed JSON. */
export const createProxies: Migration = {
  name: '009-create-proxies',
  async up(db) {
    await db.schema
      .createTable('proxies')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute();
  },
};
