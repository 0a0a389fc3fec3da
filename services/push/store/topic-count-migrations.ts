import type { Migration } from '../../contracts/service.ts';

/** How much came of each topic on each day. */
export const topicCountMigrations: readonly Migration[] = [
  {
    name: '050-create-topic-days',
    async up(db) {
      await db.schema
        .createTable('topic_days')
        .addColumn('topic', 'text', (column) => column.notNull())
        // Local, as `2026-11-21`.
        .addColumn('day', 'text', (column) => column.notNull())
        .addColumn('published', 'integer', (column) => column.notNull())
        .addColumn('sent', 'integer', (column) => column.notNull())
        .addColumn('failed', 'integer', (column) => column.notNull())
        // When the last message came, in unix seconds; 0: none did.
        .addColumn('latest', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('topic_days_key', ['topic', 'day'])
        .execute();
      await db.schema.createIndex('topic_days_day').on('topic_days').column('day').execute();
      // One row: up to which message they count.
      await db.schema
        .createTable('topic_days_counted')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('seq', 'integer', (column) => column.notNull())
        .execute();
    },
  },
];
