import type { Migration } from '../../contracts/service.ts';

/** Tables with which several hosts share the repositories. */
export interface SharedRepositoriesTables {
  /** Host keys of SSH, the same for all hosts. */
  host_keys: {
    readonly name: string;
    readonly sealed: string;
  };
  /** The folder with the repositories: the id in its marker file, in one row. */
  repository_folders: {
    readonly name: string;
    readonly id: string;
  };
  /** Work on a repository that one host does at a time. */
  repository_locks: {
    /** Kind of work and id of the repository: `merge/12`. */
    readonly name: string;
    /** Run of the host that has the lock. */
    readonly host_id: string;
    /** Unique for each acquisition. */
    readonly token: string;
  };
}

/** Creates the tables, and adds the host to rows of work in progress. Hosts of earlier versions leave it empty. */
export const sharedRepositoriesMigration: Migration = {
  name: '014-shared-repositories',
  async up(db) {
    await db.schema
      .createTable('host_keys')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('repository_folders')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('repository_locks')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('host_id', 'text', (column) => column.notNull())
      .addColumn('token', 'text', (column) => column.notNull())
      .execute();
    await db.schema.alterTable('pushes').addColumn('host_id', 'text').execute();
    await db.schema.alterTable('repositories').addColumn('filling_host', 'text').execute();
  },
};
