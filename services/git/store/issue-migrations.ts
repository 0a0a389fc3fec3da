import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { isPostgres } from '../../kit/dialect.ts';
import { ftsTokenizer } from '../../kit/word-queries.ts';
import { issueRelationsMigration } from './issue-relations.ts';

type Table = CreateTableBuilder<string, string>;

/** Tables of issues and pull requests. */
export const issueMigrations: readonly Migration[] = [
  {
    name: 'issues-001-create-issues',
    async up(db) {
      await createCounters(db);
      await createLabels(db);
      await createMilestones(db);
      await createIssues(db);
      await createIssueRelations(db);
      await createEntries(db);
      await createNotifications(db);
      await createWords(db);
    },
  },
  {
    name: 'issues-002-create-pulls',
    async up(db) {
      await db.schema
        .createTable('pulls')
        .addColumn('issue_id', 'integer', (column) =>
          column.primaryKey().notNull().references('issues.id').onDelete('cascade'),
        )
        .addColumn('head_repository_id', 'integer', (column) => column.notNull())
        .addColumn('head_branch', 'text', (column) => column.notNull())
        .addColumn('base_branch', 'text', (column) => column.notNull())
        .addColumn('head_commit', 'text', (column) => column.notNull())
        .addColumn('merge_base', 'text', (column) => column.notNull())
        .addColumn('maintainer_edit', 'integer', (column) => column.notNull())
        .addColumn('merged_commit', 'text')
        .addColumn('merged_at', 'integer')
        .addColumn('merged_by', 'text')
        .addColumn('ref_due', 'integer', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('pulls_head').on('pulls').columns(['head_repository_id', 'head_branch']).execute();
      // Merges in progress. Rows of a killed host are settled with their push.
      await db.schema
        .createTable('pull_merges')
        .addColumn('push_id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('issue_id', 'integer', (column) => column.notNull().references('issues.id').onDelete('cascade'))
        .addColumn('account', 'text', (column) => column.notNull())
        .addColumn('commit', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('reviews')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('issue_id', 'integer', (column) => column.notNull().references('issues.id').onDelete('cascade'))
        .addColumn('author', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('commit_id', 'text', (column) => column.notNull())
        .addColumn('dismissed', 'integer', (column) => column.notNull())
        .addColumn('official', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .addColumn('updated_at', 'integer', (column) => column.notNull())
        .execute();
      await db.schema.createIndex('reviews_issue').on('reviews').column('issue_id').execute();
    },
  },
  {
    // The history is ordered by time, because IDs of restored entries are not in this order.
    name: 'issues-003-index-time',
    async up(db) {
      await db.schema.createIndex('issue_entries_time').on('issue_entries').columns(['created_at', 'id']).execute();
    },
  },
  issueRelationsMigration,
];

function createNumbered(db: Kysely<any>, name: string): Table {
  return db.schema.createTable(name).addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement());
}

function withTexts(builder: Table, ...names: string[]): Table {
  return names.reduce((all, name) => all.addColumn(name, 'text', (column) => column.notNull()), builder);
}

function withNumbers(builder: Table, ...names: string[]): Table {
  return names.reduce((all, name) => all.addColumn(name, 'integer', (column) => column.notNull()), builder);
}

function withRepository(builder: Table): Table {
  return builder.addColumn('repository_id', 'integer', (column) =>
    column.notNull().references('repositories.id').onDelete('cascade'),
  );
}

function withIssue(builder: Table): Table {
  return builder.addColumn('issue_id', 'integer', (column) =>
    column.notNull().references('issues.id').onDelete('cascade'),
  );
}

async function createCounters(db: Kysely<any>): Promise<void> {
  // Numbers are never reused, even after deletions.
  await db.schema
    .createTable('issue_counters')
    .addColumn('repository_id', 'integer', (column) =>
      column.primaryKey().notNull().references('repositories.id').onDelete('cascade'),
    )
    .addColumn('last', 'integer', (column) => column.notNull())
    .execute();
}

async function createLabels(db: Kysely<any>): Promise<void> {
  await withNumbers(
    withTexts(withRepository(createNumbered(db, 'labels')), 'name', 'color', 'description'),
    'exclusive',
    'archived',
  ).execute();
  await db.schema.createIndex('labels_name').on('labels').columns(['repository_id', 'name']).execute();
}

async function createMilestones(db: Kysely<any>): Promise<void> {
  await withNumbers(
    withTexts(withRepository(createNumbered(db, 'milestones')), 'title', 'description'),
    'closed',
    'created_at',
    'updated_at',
  )
    .addColumn('due_at', 'integer')
    .addColumn('closed_at', 'integer')
    .execute();
  await db.schema.createIndex('milestones_title').on('milestones').columns(['repository_id', 'title']).execute();
}

async function createIssues(db: Kysely<any>): Promise<void> {
  await withNumbers(
    withTexts(withRepository(createNumbered(db, 'issues')), 'author', 'title', 'body', 'ref'),
    ...['number', 'pull', 'closed', 'locked', 'comments', 'created_at', 'updated_at'],
  )
    .addColumn('milestone_id', 'integer', (column) => column.references('milestones.id').onDelete('set null'))
    .addColumn('due_at', 'integer')
    .addColumn('closed_at', 'integer')
    .execute();
  await db.schema.createIndex('issues_number').on('issues').columns(['repository_id', 'number']).unique().execute();
  await db.schema
    .createIndex('issues_state')
    .on('issues')
    .columns(['repository_id', 'pull', 'closed', 'created_at'])
    .execute();
  await db.schema.createIndex('issues_milestone').on('issues').column('milestone_id').execute();
}

/** Creates the tables of labels, accounts and watchers of issues. */
async function createIssueRelations(db: Kysely<any>): Promise<void> {
  await withIssue(db.schema.createTable('issue_labels'))
    .addColumn('label_id', 'integer', (column) => column.notNull().references('labels.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('issue_labels_key', ['issue_id', 'label_id'])
    .execute();
  await db.schema.createIndex('issue_labels_label').on('issue_labels').column('label_id').execute();
  for (const name of ['issue_assignees', 'issue_mentions', 'review_requests']) {
    await withTexts(withIssue(db.schema.createTable(name)), 'account')
      .addPrimaryKeyConstraint(`${name}_key`, ['issue_id', 'account'])
      .execute();
    await db.schema.createIndex(`${name}_account`).on(name).column('account').execute();
  }
  await withNumbers(withTexts(withIssue(db.schema.createTable('issue_watches')), 'account'), 'watching')
    .addPrimaryKeyConstraint('issue_watches_key', ['issue_id', 'account'])
    .execute();
}

/** Creates the tables of reactions, comments and events. */
async function createEntries(db: Kysely<any>): Promise<void> {
  // An `entry_id` of 0 is a reaction to the issue itself.
  await withNumbers(
    withTexts(withIssue(db.schema.createTable('issue_reactions')), 'account', 'content'),
    'entry_id',
    'created_at',
  )
    .addPrimaryKeyConstraint('issue_reactions_key', ['issue_id', 'entry_id', 'account', 'content'])
    .execute();
  await withNumbers(
    withTexts(withIssue(createNumbered(db, 'issue_entries')), 'kind', 'author', 'body', 'details'),
    ...['created_at', 'updated_at'],
  )
    .addColumn('review_id', 'integer')
    .execute();
  await db.schema.createIndex('issue_entries_issue').on('issue_entries').column('issue_id').execute();
  await db.schema.createIndex('issue_entries_review').on('issue_entries').column('review_id').execute();
}

async function createNotifications(db: Kysely<any>): Promise<void> {
  await withNumbers(withTexts(withIssue(createNumbered(db, 'issue_notifications')), 'account', 'state'), 'updated_at')
    .addColumn('entry_id', 'integer')
    .execute();
  await db.schema
    .createIndex('issue_notifications_account')
    .on('issue_notifications')
    .columns(['account', 'issue_id'])
    .unique()
    .execute();
}

/** Full-text index of issues over title, text and comments. */
async function createWords(db: Kysely<any>): Promise<void> {
  if (isPostgres(db)) {
    await sql`
      create table issue_words (
        issue bigint primary key references issues (id) on delete cascade, words tsvector not null
      )`.execute(db);
    await sql`create index issue_words_words on issue_words using gin (words)`.execute(db);
    return;
  }
  await sql`
    create virtual table issue_words using fts5(
      words, content = '', contentless_delete = 1, tokenize = ${sql.raw(ftsTokenizer)}
    )`.execute(db);
  await sql`
    create trigger issues_forget_words after delete on issues begin
      delete from issue_words where rowid = old.id;
    end`.execute(db);
}
