import type { Migration } from '../../contracts/service.ts';

export const subscriptionMigrations: readonly Migration[] = [
  {
    name: '020-subscriptions',
    async up(db) {
      await db.schema
        .createTable('downloads_subscriptions')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('url', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('request', 'text', (column) => column.notNull())
        .addColumn('enabled', 'integer', (column) => column.notNull())
        .addColumn('interval_minutes', 'integer', (column) => column.notNull())
        .addColumn('title_regex', 'text', (column) => column.notNull())
        .addColumn('skip_members_only', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_checked', 'bigint')
        .addColumn('next_check', 'bigint', (column) => column.notNull())
        .addColumn('last_found', 'bigint')
        .addColumn('error', 'text')
        .addColumn('failures', 'integer', (column) => column.notNull())
        // A removed subscription remains for a while, so that it can be restored.
        .addColumn('removed_at', 'bigint')
        .execute();
      await db.schema
        .createIndex('downloads_subscriptions_due')
        .on('downloads_subscriptions')
        .column('next_check')
        .execute();
      await db.schema
        .createTable('downloads_seen')
        .addColumn('subscription', 'text', (column) => column.notNull())
        .addColumn('entry', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('downloads_seen_key', ['subscription', 'entry'])
        .execute();
    },
  },
  {
    name: '051-subscriptions-found',
    async up(db) {
      await db.schema
        .alterTable('downloads_subscriptions')
        .addColumn('found', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  {
    name: '052-subscriptions-picture',
    async up(db) {
      await db.schema.alterTable('downloads_subscriptions').addColumn('picture', 'text').execute();
    },
  },
];
