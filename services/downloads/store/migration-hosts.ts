import type { Migration } from '../../contracts/service.ts';

/** Adds the column for the host that runs a download, of those that share the tables. */
export const hostsOfDownloads: Migration = {
  name: '056-hosts',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('host', 'text').execute();
  },
};
