import type { Migration } from '../../contracts/service.ts';

/** Tables for quiet hours of accounts, held messages and repeated urgent messages. */
export const quietMigrations: readonly Migration[] = [
  {
    name: '040-create-quiet',
    async up(db) {
      await db.schema
        .createTable('quiet_people')
        .addColumn('account', 'text', (column) => column.primaryKey().notNull())
        .addColumn('rules', 'text', (column) => column.notNull())
        .addColumn('popups', 'integer', (column) => column.notNull())
        .addColumn('time', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('quiet_held')
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('sequence', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('quiet_held_key', ['account', 'topic', 'sequence'])
        .execute();
      await db.schema.createIndex('quiet_held_inbox').on('quiet_held').column('key').execute();
      await db.schema
        .createTable('quiet_urgent')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('topic', 'text', (column) => column.notNull())
        .addColumn('sequence', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('time', 'bigint', (column) => column.notNull())
        .addColumn('due', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('quiet_urgent_message', ['account', 'topic', 'sequence'])
        .execute();
      await db.schema.createIndex('quiet_urgent_due').on('quiet_urgent').column('due').execute();
      await db.schema.createIndex('quiet_urgent_inbox').on('quiet_urgent').column('key').execute();
    },
  },
  {
    name: '041-index-quiet',
    async up(db) {
      // Look-ups of earlier messages of a sequence and of the repeated messages of an account.
      await db.schema.createIndex('quiet_held_sequence').on('quiet_held').columns(['topic', 'sequence']).execute();
      await db.schema.createIndex('quiet_urgent_sequence').on('quiet_urgent').columns(['topic', 'sequence']).execute();
      await db.schema.createIndex('quiet_urgent_account').on('quiet_urgent').columns(['account', 'due']).execute();
    },
  },
];
