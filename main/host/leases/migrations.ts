import type { Migration } from '../../../services/contracts/service.ts';

/** Table of the leases of all services, in the database of the host. Without other hosts it stays empty. */
export const leasesMigrations: readonly Migration[] = [
  {
    name: 'leases-001-create',
    async up(db) {
      await db.schema
        .createTable('leases')
        // `<service>/<work>`
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        // The fencing token: increases with each owner.
        .addColumn('token', 'integer', (column) => column.notNull())
        .addColumn('owner', 'text')
        // By the clock of the database, in ms since the epoch.
        .addColumn('expires_at', 'integer', (column) => column.notNull())
        .execute();
    },
  },
];
