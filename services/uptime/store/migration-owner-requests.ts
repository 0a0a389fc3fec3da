import type { Migration } from '../../contracts/service.ts';

/** Requests of hosts to the one that checks the monitors. */
export const createOwnerRequests: Migration = {
  name: '011-create-owner-requests',
  async up(db) {
    await db.schema
      .createTable('owner_requests')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('monitor_id', 'integer', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .execute();
  },
};
