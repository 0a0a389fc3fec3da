import type { Migration } from '../../contracts/service.ts';

/** Tables for data of accounts and for the sealed keys of this service. */
export const accountMigrations: readonly Migration[] = [
  {
    name: '010-create-profiles',
    async up(db) {
      await db.schema
        .createTable('keys')
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('profiles')
        .addColumn('account', 'text', (column) => column.primaryKey().notNull())
        .addColumn('preferences', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('subscriptions')
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('base_url', 'text', (column) => column.notNull())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('display_name', 'text')
        .addColumn('time', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('subscriptions_key', ['account', 'base_url', 'topic'])
        .execute();
      await db.schema
        .createTable('reservations')
        .addColumn('topic', 'text', (column) => column.primaryKey().notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('everyone', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('reservations_account').on('reservations').column('account').execute();
    },
  },
  {
    name: '011-create-web-push',
    async up(db) {
      await db.schema
        .createTable('web_push')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('endpoint', 'text', (column) => column.notNull().unique())
        .addColumn('auth', 'text', (column) => column.notNull())
        .addColumn('p256dh', 'text', (column) => column.notNull())
        .addColumn('account', 'text')
        .addColumn('network', 'text', (column) => column.notNull())
        .addColumn('base_url', 'text', (column) => column.notNull())
        .addColumn('time', 'bigint', (column) => column.notNull())
        .addColumn('warned', 'integer', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('web_push_topics')
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('subscription', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('web_push_topics_key', ['topic', 'subscription'])
        .execute();
      await db.schema
        .createIndex('web_push_topics_subscription')
        .on('web_push_topics')
        .column('subscription')
        .execute();
    },
  },
];
