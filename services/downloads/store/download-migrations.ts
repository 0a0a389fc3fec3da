import type { Migration } from '../../contracts/service.ts';

/** Tables of downloads and of the pause of the whole queue. */
export const downloadMigrations: readonly Migration[] = [
  {
    name: '001-create-downloads',
    async up(db) {
      await db.schema
        .createTable('downloads')
        .addColumn('uid', 'text', (column) => column.primaryKey())
        .addColumn('position', 'integer', (column) => column.notNull())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('request', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('search', 'text', (column) => column.notNull())
        .addColumn('video_id', 'text', (column) => column.notNull())
        .addColumn('live_status', 'text')
        .addColumn('playlist', 'text')
        .addColumn('probed', 'integer', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('message', 'text')
        .addColumn('filename', 'text')
        .addColumn('size', 'integer')
        .addColumn('added_ns', 'text', (column) => column.notNull())
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .addColumn('finished_at', 'integer')
        .addColumn('finished_order', 'integer')
        // The owner of the run: host process, lease and child process on that computer.
        .addColumn('machine', 'text')
        .addColumn('host_process', 'text')
        .addColumn('lease_until', 'integer')
        .addColumn('child_process', 'text')
        .execute();
      await db.schema.createIndex('downloads_queue').on('downloads').columns(['state', 'position']).execute();
      await db.schema.createIndex('downloads_history').on('downloads').column('finished_order').execute();
      await db.schema.createIndex('downloads_url').on('downloads').column('url').execute();
    },
  },
  {
    name: '002-pause-the-queue',
    async up(db) {
      // One row while the whole queue is paused, otherwise none.
      await db.schema
        .createTable('downloads_pause')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('since', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('downloads_held').on('downloads').column('host_process').execute();
    },
  },
  {
    name: '003-pictures',
    async up(db) {
      await db.schema.alterTable('downloads').addColumn('thumbnail', 'text').execute();
    },
  },
];
