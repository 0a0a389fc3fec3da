import type { Migration } from '../../contracts/service.ts';
import { accountMigrations } from './account-migrations.ts';
import { deliveryMigrations } from './delivery-migrations.ts';
import { feedMigrations } from './feed-migrations.ts';
import { delayedMigrations } from './delayed-migrations.ts';
import { quietMigrations } from './quiet-migrations.ts';
import { recurringMigrations } from './recurring-migrations.ts';
import { retentionMigrations } from './retention-migrations.ts';
import { searchMigrations } from './search-migrations.ts';
import { topicPreferenceMigrations } from './topic-preference-migrations.ts';
import { topicCountMigrations } from './topic-count-migrations.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-messages',
    async up(db) {
      await db.schema
        .createTable('messages')
        .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('time', 'integer', (column) => column.notNull())
        .addColumn('expires', 'integer', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('messages_topic').on('messages').columns(['topic', 'time', 'seq']).execute();
      await db.schema.createIndex('messages_expires').on('messages').column('expires').execute();
      // Keys are stored longer than messages, because a key may be used again after its message has expired.
      await db.schema
        .createTable('offers')
        .addColumn('key', 'text', (column) => column.primaryKey().notNull())
        .addColumn('time', 'integer', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('offers_time').on('offers').column('time').execute();
      // Single row: number of messages ever published, up to and including `seq`.
      await db.schema
        .createTable('totals')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('messages', 'integer', (column) => column.notNull())
        .addColumn('seq', 'integer', (column) => column.notNull())
        .execute();
    },
  },
  ...accountMigrations,
  ...deliveryMigrations,
  ...delayedMigrations,
  ...recurringMigrations,
  ...searchMigrations,
  ...retentionMigrations,
  ...quietMigrations,
  ...topicCountMigrations,
  ...feedMigrations,
  ...topicPreferenceMigrations,
];
