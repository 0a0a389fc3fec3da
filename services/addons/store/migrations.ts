import type { Migration } from '../../contracts/service.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-profiles',
    async up(db) {
      await db.schema
        .createTable('profiles')
        .addColumn('uuid', 'text', (column) => column.primaryKey())
        .addColumn('salt', 'text', (column) => column.notNull())
        // Under a key that the password alone makes.
        .addColumn('config', 'text', (column) => column.notNull())
        // The password under the vault's key, of those that the page looks after.
        .addColumn('kept_password', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('secrets')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
      // Torrents that a service had at once when they were played; nobody tells it beforehand any more.
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
        // A page of another site made it.
        .addColumn('made_elsewhere', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
  {
    name: '003-add-owner-of-profiles',
    async up(db) {
      // The account that created it on the page; null for those of older versions and of other tools.
      await db.schema.alterTable('profiles').addColumn('owner', 'text').execute();
    },
  },
];
