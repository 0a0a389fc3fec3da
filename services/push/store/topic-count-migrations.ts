import { sql } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { storedPriority } from './topic-counts.ts';

/** Tables with message counts by topic, day and hour. */
export const topicCountMigrations: readonly Migration[] = [
  {
    name: '050-create-topic-days',
    async up(db) {
      await db.schema
        .createTable('topic_days')
        .addColumn('topic', 'text', (column) => column.notNull())
        // Local date such as `2026-11-21`.
        .addColumn('day', 'text', (column) => column.notNull())
        .addColumn('published', 'integer', (column) => column.notNull())
        .addColumn('sent', 'integer', (column) => column.notNull())
        .addColumn('failed', 'integer', (column) => column.notNull())
        // Time of the last message in unix seconds; 0 without messages.
        .addColumn('latest', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('topic_days_key', ['topic', 'day'])
        .execute();
      await db.schema.createIndex('topic_days_day').on('topic_days').column('day').execute();
      // Single row: last message that is included in the counts.
      await db.schema
        .createTable('topic_days_counted')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('seq', 'integer', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '070-create-topic-hours',
    async up(db) {
      await db.schema
        .createTable('topic_hours')
        .addColumn('topic', 'text', (column) => column.notNull())
        // Start of the hour in unix seconds.
        .addColumn('hour', 'integer', (column) => column.notNull())
        .addColumn('priority', 'integer', (column) => column.notNull())
        .addColumn('published', 'integer', (column) => column.notNull())
        .addPrimaryKeyConstraint('topic_hours_key', ['topic', 'hour', 'priority'])
        .execute();
      await db.schema.createIndex('topic_hours_hour').on('topic_hours').column('hour').execute();
      // Messages already included in the days are not counted again; those still cached fill the first hours.
      const counted = await db.selectFrom('topic_days_counted').select('seq').executeTakeFirst();
      const hour = sql<number>`(time / 3600) * 3600`;
      await db
        .insertInto('topic_hours')
        .columns(['topic', 'hour', 'priority', 'published'])
        .expression((on) =>
          on
            .selectFrom('messages')
            .select(['topic', hour.as('hour'), storedPriority.as('priority')])
            .select(({ fn }) => fn.countAll<number>().as('published'))
            .where('seq', '<=', counted?.seq ?? 0)
            .where('text', 'like', '%"event":"message",%')
            .groupBy(['topic', hour, storedPriority]),
        )
        .execute();
    },
  },
];
