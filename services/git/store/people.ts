import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

export interface PeopleTables {
  follows: { account: string; followed: string; created_at: number };
}

export const peopleMigration: Migration = {
  name: '010-profiles-follows',
  async up(db: Kysely<any>) {
    // What else the peer keeps of an account or an organisation, as its clients set it.
    await db.schema
      .alterTable('owners')
      .addColumn('profile', 'text', (column) => column.notNull().defaultTo('{}'))
      .execute();
    await db.schema
      .createTable('follows')
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('followed', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('follows_key', ['account', 'followed'])
      .execute();
    await db.schema.createIndex('follows_followed').on('follows').column('followed').execute();
  },
};
