import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { hooksMigration } from './hooks.ts';
import { lfsDamageMigration, lfsMigration } from './lfs.ts';
import { peopleMigration, visibilityMigration } from './follows.ts';
import { restMigration } from './repository-relations.ts';
import { sharedRepositoriesMigration } from './shared-repositories.ts';
import { transferMigration } from './transfers.ts';
import { tagProtectionMigration } from './tag-protections.ts';
import { historyMigration, statusMigration } from './statuses.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-repositories',
    async up(db) {
      await createOwners(db);
      await createRepositories(db);
      await createFormerNames(db);
      await createCollaborators(db);
    },
  },
  {
    name: '002-create-credentials',
    async up(db) {
      await db.schema
        .createTable('tokens')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        // SHA-256 of the random text.
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('last_eight', 'text', (column) => column.notNull())
        .addColumn('scopes', 'text', (column) => column.notNull())
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .addColumn('last_used_at', 'integer')
        .execute();
      await db.schema.createIndex('tokens_name').on('tokens').columns(['account', 'name']).unique().execute();
      await db.schema
        .createTable('public_keys')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        // The key of an account, or of a repository.
        .addColumn('account', 'text')
        .addColumn('repository_id', 'integer', (column) => column.references('repositories.id').onDelete('cascade'))
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('fingerprint', 'text', (column) => column.notNull())
        .addColumn('read_only', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .addColumn('last_used_at', 'integer')
        .execute();
      await db.schema.createIndex('public_keys_fingerprint').on('public_keys').column('fingerprint').execute();
    },
  },
  {
    name: '003-create-pushes',
    async up(db) {
      // Pushes in progress. Rows of a killed host are settled at the next start.
      await db.schema
        .createTable('pushes')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('repository_id', 'integer', (column) =>
          column.notNull().references('repositories.id').onDelete('cascade'),
        )
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('commands', 'text', (column) => column.notNull())
        .addColumn('begun_at', 'integer', (column) => column.notNull())
        .execute();
    },
  },
  lfsMigration,
  hooksMigration,
  restMigration,
  statusMigration,
  historyMigration,
  peopleMigration,
  tagProtectionMigration,
  transferMigration,
  visibilityMigration,
  lfsDamageMigration,
  sharedRepositoriesMigration,
];

async function createOwners(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('owners')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('lower_name', 'text', (column) => column.notNull().unique())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('full_name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .execute();
}

async function createRepositories(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('repositories')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('owner_id', 'integer', (column) => column.notNull().references('owners.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('lower_name', 'text', (column) => column.notNull())
    // Folder name below `repositories/`. It never contains text from clients.
    .addColumn('folder', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('website', 'text', (column) => column.notNull())
    .addColumn('original_url', 'text', (column) => column.notNull())
    .addColumn('topics', 'text', (column) => column.notNull())
    // Further settings of Gitea clients.
    .addColumn('options', 'text', (column) => column.notNull())
    .addColumn('private', 'integer', (column) => column.notNull())
    .addColumn('archived', 'integer', (column) => column.notNull())
    .addColumn('template', 'integer', (column) => column.notNull())
    .addColumn('empty', 'integer', (column) => column.notNull())
    // 1 while the repository is being created; interrupted rows are removed at the next start.
    .addColumn('filling', 'integer', (column) => column.notNull())
    .addColumn('default_branch', 'text', (column) => column.notNull())
    .addColumn('branch_count', 'integer', (column) => column.notNull())
    // KiB on disk.
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull())
    .addColumn('pushed_at', 'integer')
    .execute();
  await db.schema
    .createIndex('repositories_name')
    .on('repositories')
    .columns(['owner_id', 'lower_name'])
    .unique()
    .execute();
  await db.schema.createIndex('repositories_updated').on('repositories').column('updated_at').execute();
}

/** Creates the table of former names and owners of repositories, for redirects. */
async function createFormerNames(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('former_names')
    .addColumn('owner_id', 'integer', (column) => column.notNull())
    .addColumn('lower_name', 'text', (column) => column.notNull())
    .addColumn('repository_id', 'integer', (column) =>
      column.notNull().references('repositories.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('former_names_key', ['owner_id', 'lower_name'])
    .execute();
}

async function createCollaborators(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('collaborators')
    .addColumn('repository_id', 'integer', (column) =>
      column.notNull().references('repositories.id').onDelete('cascade'),
    )
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('permission', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('collaborators_key', ['repository_id', 'account'])
    .execute();
  await db.schema.createIndex('collaborators_account').on('collaborators').column('account').execute();
}
