import type { Migration } from '../../contracts/service.ts';

/** Adds the account that scheduled a delayed message. */
export const delayedMigrations: readonly Migration[] = [
  {
    name: '030-add-scheduled-account',
    async up(db) {
      await db.schema.alterTable('scheduled').addColumn('account', 'text').execute();
      await db.schema.createIndex('scheduled_account').on('scheduled').columns(['account', 'time', 'seq']).execute();
    },
  },
];
