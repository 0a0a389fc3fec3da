import type { Migration } from '../../contracts/service.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-profiles',
    async up(db) {
      await db.schema
        .createTable('profiles')
        .addColumn('uuid', 'text', (column) => column.primaryKey())
        .addColumn('salt', 'text', (column) => column.notNull())
        // Encrypted with a key derived from the password.
        .addColumn('config', 'text', (column) => column.notNull())
        // Password encrypted by the vault. Only set for configurations that are managed on the page.
        .addColumn('kept_password', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('secrets')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
      // Torrents that were available without a download when they were played. Services no longer report availability.
      await db.schema
        .createTable('plays')
        .addColumn('service', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('seen_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('plays_pk', ['service', 'hash'])
        .execute();
    },
  },
  {
    name: '002-tell-foreign-profiles',
    async up(db) {
      await db.schema
        .alterTable('profiles')
        // 1 when the request came from another site or an unknown visitor, 2 when the account is no administrator.
        .addColumn('made_elsewhere', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  {
    name: '003-add-owner-of-profiles',
    async up(db) {
      // Account that created the configuration on the page. Null for other clients and older versions.
      await db.schema.alterTable('profiles').addColumn('owner', 'text').execute();
    },
  },
  {
    name: '004-plans-of-accounts',
    async up(db) {
      await db.schema
        .createTable('plans')
        .addColumn('service', 'text', (column) => column.notNull())
        // Fingerprint of the credential, which reveals nothing about it.
        .addColumn('credential', 'text', (column) => column.notNull())
        .addColumn('plan', 'text', (column) => column.notNull())
        .addColumn('ends_at', 'bigint')
        .addColumn('checked_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('plans_pk', ['service', 'credential'])
        .execute();
    },
  },
];
