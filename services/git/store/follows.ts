import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

export interface PeopleTables {
  follows: { account: string; followed: string; created_at: number };
}

/** Visibility of organizations, email addresses of accounts, and options of webhooks for chat services. */
export const visibilityMigration: Migration = {
  name: '013-owner-visibility-email-hook-options',
  async up(db: Kysely<any>) {
    await db.schema
      .alterTable('owners')
      .addColumn('visibility', 'text', (column) => column.notNull().defaultTo('public'))
      .execute();
    await db.schema
      .alterTable('owners')
      .addColumn('email', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await db.schema
      .alterTable('webhooks')
      .addColumn('options', 'text', (column) => column.notNull().defaultTo('{}'))
      .execute();
    await db.schema.createIndex('owners_email').on('owners').column('email').execute();
  },
};

export const peopleMigration: Migration = {
  name: '010-profiles-follows',
  async up(db: Kysely<any>) {
    // Further profile fields of Gitea for accounts and organizations.
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
