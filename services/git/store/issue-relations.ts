import type { Generated, Kysely, Selectable } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

interface TrackedTimes {
  id: Generated<number>;
  issue_id: number;
  account: string;
  seconds: number;
  created_at: number;
}

interface Dependencies {
  /** Dependent issue. */
  issue_id: number;
  /** Issue that must be closed first. */
  depends_on: number;
  created_at: number;
}

interface Attachments {
  id: Generated<number>;
  issue_id: number;
  /** ID of the comment; 0 for a file of the issue itself. */
  entry_id: number;
  account: string;
  name: string;
  size: number;
  uuid: string;
  downloads: number;
  created_at: number;
}

/** Tables of tracked times, dependencies and files of issues. */
export interface IssueRelationTables {
  tracked_times: TrackedTimes;
  /** Running stopwatches, at most one per account. */
  stopwatches: { account: string; issue_id: number; begun_at: number };
  issue_dependencies: Dependencies;
  issue_attachments: Attachments;
}

export type AttachmentRow = Selectable<Attachments>;
export type TrackedTimeRow = Selectable<TrackedTimes>;

export const issueRelationsMigration: Migration = {
  name: 'issues-004-times-dependencies-attachments-pins',
  async up(db: Kysely<any>) {
    const issue = 'issues.id';
    await db.schema
      .createTable('tracked_times')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('issue_id', 'integer', (column) => column.notNull().references(issue).onDelete('cascade'))
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('seconds', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('tracked_times_issue').on('tracked_times').column('issue_id').execute();
    await db.schema.createIndex('tracked_times_account').on('tracked_times').column('account').execute();
    await db.schema
      .createTable('stopwatches')
      .addColumn('account', 'text', (column) => column.primaryKey().notNull())
      .addColumn('issue_id', 'integer', (column) => column.notNull().references(issue).onDelete('cascade'))
      .addColumn('begun_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('issue_dependencies')
      .addColumn('issue_id', 'integer', (column) => column.notNull().references(issue).onDelete('cascade'))
      .addColumn('depends_on', 'integer', (column) => column.notNull().references(issue).onDelete('cascade'))
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('issue_dependencies_key', ['issue_id', 'depends_on'])
      .execute();
    await db.schema.createIndex('issue_dependencies_on').on('issue_dependencies').column('depends_on').execute();
    await db.schema
      .createTable('issue_attachments')
      .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('issue_id', 'integer', (column) => column.notNull().references(issue).onDelete('cascade'))
      .addColumn('entry_id', 'integer', (column) => column.notNull())
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('uuid', 'text', (column) => column.notNull().unique())
      .addColumn('downloads', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('issue_attachments_issue')
      .on('issue_attachments')
      .columns(['issue_id', 'entry_id'])
      .execute();
    await db.schema.createIndex('issue_attachments_entry').on('issue_attachments').column('entry_id').execute();
    // Position among the pinned issues; 0 if not pinned.
    await db.schema
      .alterTable('issues')
      .addColumn('pin_order', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
