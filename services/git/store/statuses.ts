import type { Generated, Kysely, Selectable } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

interface CommitStatuses {
  id: Generated<number>;
  repository_id: number;
  commit_id: string;
  context: string;
  state: 'pending' | 'success' | 'error' | 'failure' | 'warning' | 'skipped';
  target_url: string;
  description: string;
  account: string;
  created_at: number;
}

interface PushHistory {
  id: Generated<number>;
  repository_id: number;
  account: string;
  ref: string;
  before: string;
  after: string;
  created_at: number;
}

export interface StatusTables {
  commit_statuses: CommitStatuses;
  push_history: PushHistory;
  repository_watches: { repository_id: number; account: string; created_at: number };
}

export type StatusRow = Selectable<CommitStatuses>;

export const statusMigration: Migration = {
  name: '008-commit-statuses-watches-create',
  async up(db: Kysely<any>) {
    const id = 'repositories.id';
    await db.schema
      .createTable('commit_statuses')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('repository_id', 'integer', (column) => column.notNull().references(id).onDelete('cascade'))
      .addColumn('commit_id', 'text', (column) => column.notNull())
      .addColumn('context', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('target_url', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('commit_statuses_commit')
      .on('commit_statuses')
      .columns(['repository_id', 'commit_id'])
      .execute();
    await db.schema
      .createTable('repository_watches')
      .addColumn('repository_id', 'integer', (column) => column.notNull().references(id).onDelete('cascade'))
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('repository_watches_key', ['repository_id', 'account'])
      .execute();
    await db.schema.createIndex('repository_watches_account').on('repository_watches').column('account').execute();
  },
};

export const historyMigration: Migration = {
  name: '009-push-history-create',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('push_history')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('repository_id', 'integer', (column) =>
        column.notNull().references('repositories.id').onDelete('cascade'),
      )
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('ref', 'text', (column) => column.notNull())
      .addColumn('before', 'text', (column) => column.notNull())
      .addColumn('after', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('push_history_repository')
      .on('push_history')
      .columns(['repository_id', 'id'])
      .execute();
    await db.schema.createIndex('push_history_time').on('push_history').column('created_at').execute();
  },
};
