import type { Generated, Kysely, Selectable } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

interface LfsLocks {
  id: Generated<number>;
  repository_id: number;
  path: string;
  account: string;
  locked_at: number;
}

export interface LfsTables {
  lfs_objects: {
    repository_id: number;
    oid: string;
    size: number;
    created_at: number;
    /** Time at which a download found other content than was uploaded, until the object is uploaded again. */
    damaged_at: Generated<number | null>;
  };
  lfs_locks: LfsLocks;
}

export type LockRow = Selectable<LfsLocks>;

export const lfsMigration: Migration = {
  name: '004-lfs-create',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('lfs_objects')
      .addColumn('repository_id', 'integer', (column) =>
        column.notNull().references('repositories.id').onDelete('cascade'),
      )
      .addColumn('oid', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('lfs_objects_key', ['repository_id', 'oid'])
      .execute();
    await db.schema
      .createTable('lfs_locks')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('repository_id', 'integer', (column) =>
        column.notNull().references('repositories.id').onDelete('cascade'),
      )
      .addColumn('path', 'text', (column) => column.notNull())
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('locked_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('lfs_locks_path').on('lfs_locks').columns(['repository_id', 'path']).unique().execute();
  },
};

export const lfsDamageMigration: Migration = {
  name: '014-lfs-damaged-objects',
  up: (db) => db.schema.alterTable('lfs_objects').addColumn('damaged_at', 'integer').execute(),
};
