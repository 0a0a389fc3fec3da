import type { Migration } from '../../contracts/service.ts';

/** Tables for delayed messages and for attachments. */
export const deliveryMigrations: readonly Migration[] = [
  {
    name: '020-create-scheduled',
    async up(db) {
      await db.schema
        .createTable('scheduled')
        .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('sequence', 'text', (column) => column.notNull())
        .addColumn('time', 'integer', (column) => column.notNull())
        .addColumn('expires', 'integer', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('entry', 'text')
        .addColumn('after', 'integer', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('scheduled_time').on('scheduled').columns(['time', 'seq']).execute();
      await db.schema.createIndex('scheduled_sequence').on('scheduled').columns(['topic', 'sequence']).execute();
    },
  },
  {
    name: '021-create-attachments',
    async up(db) {
      await db.schema
        .createTable('attachments')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('size', 'integer', (column) => column.notNull())
        .addColumn('expires', 'integer', (column) => column.notNull())
        .addColumn('sender', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('attachments_expires').on('attachments').column('expires').execute();
      await db.schema.createIndex('attachments_sender').on('attachments').column('sender').execute();
    },
  },
];
