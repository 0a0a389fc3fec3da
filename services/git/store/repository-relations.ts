import type { Generated, Kysely, Selectable } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

interface Protections {
  id: Generated<number>;
  repository_id: number;
  /** Name of a branch, or a pattern. */
  rule: string;
  options: string;
  created_at: number;
  updated_at: number;
}

interface Releases {
  id: Generated<number>;
  repository_id: number;
  tag: string;
  target: string;
  title: string;
  body: string;
  draft: number;
  prerelease: number;
  author: string;
  created_at: number;
  published_at: number;
}

interface ReleaseAssets {
  id: Generated<number>;
  release_id: number;
  name: string;
  size: number;
  /** Public name, and the file name on disk. */
  uuid: string;
  downloads: number;
  created_at: number;
}

export interface RestTables {
  protections: Protections;
  organization_members: { owner_id: number; account: string };
  forks: { repository_id: number; parent_id: number };
  stars: { repository_id: number; account: string; created_at: number };
  releases: Releases;
  release_assets: ReleaseAssets;
}

export type ProtectionRow = Selectable<Protections>;
export type ReleaseRow = Selectable<Releases>;
export type AssetRow = Selectable<ReleaseAssets>;

const repositoryId = 'repositories.id';

export const restMigration: Migration = {
  name: '007-protections-organizations-releases-create',
  async up(db: Kysely<any>) {
    await createProtections(db);
    await createOrganizationMembers(db);
    await createForks(db);
    await createStars(db);
    await createReleases(db);
    await createReleaseAssets(db);
  },
};

async function createProtections(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('protections')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('repository_id', 'integer', (column) => column.notNull().references(repositoryId).onDelete('cascade'))
    .addColumn('rule', 'text', (column) => column.notNull())
    .addColumn('options', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('protections_rule')
    .on('protections')
    .columns(['repository_id', 'rule'])
    .unique()
    .execute();
}

async function createOrganizationMembers(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('organization_members')
    .addColumn('owner_id', 'integer', (column) => column.notNull().references('owners.id').onDelete('cascade'))
    .addColumn('account', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('organization_members_key', ['owner_id', 'account'])
    .execute();
  await db.schema.createIndex('organization_members_account').on('organization_members').column('account').execute();
}

async function createForks(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('forks')
    .addColumn('repository_id', 'integer', (column) =>
      column.primaryKey().notNull().references(repositoryId).onDelete('cascade'),
    )
    .addColumn('parent_id', 'integer', (column) => column.notNull().references(repositoryId).onDelete('cascade'))
    .execute();
  await db.schema.createIndex('forks_parent').on('forks').column('parent_id').execute();
}

async function createStars(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('stars')
    .addColumn('repository_id', 'integer', (column) => column.notNull().references(repositoryId).onDelete('cascade'))
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('stars_key', ['repository_id', 'account'])
    .execute();
  await db.schema.createIndex('stars_account').on('stars').column('account').execute();
}

async function createReleases(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('releases')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('repository_id', 'integer', (column) => column.notNull().references(repositoryId).onDelete('cascade'))
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('draft', 'integer', (column) => column.notNull())
    .addColumn('prerelease', 'integer', (column) => column.notNull())
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('published_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('releases_tag').on('releases').columns(['repository_id', 'tag']).unique().execute();
}

async function createReleaseAssets(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('release_assets')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('release_id', 'integer', (column) => column.notNull().references('releases.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('downloads', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('release_assets_release').on('release_assets').column('release_id').execute();
}
