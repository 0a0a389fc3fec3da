import type { Migration } from '../../contracts/service.ts';

/** Table for preferences of topics, and the mark of subscriptions to topics of this server. */
export const topicPreferenceMigrations: readonly Migration[] = [
  {
    name: '080-create-topic-preferences',
    async up(db) {
      await db.schema
        .createTable('topic_preferences')
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('display_name', 'text', (column) => column.notNull())
        .addColumn('sound', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('topic_preferences_key', ['account', 'topic'])
        .execute();
      await db.schema.createIndex('topic_preferences_topic').on('topic_preferences').column('topic').execute();
      // Marked when the app saves the subscription the next time.
      await db.schema
        .alterTable('subscriptions')
        .addColumn('own', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
];
