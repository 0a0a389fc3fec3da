import { sql, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { failureParameters } from './migration-failure-parameters.ts';
import type { Tables } from './tables.ts';

/** Sentences of older versions, which stored no codes. */
const olderSentences: readonly (readonly [string, string])[] = [
  ['% is a link at the destination, and links are left as they are', 'sync.link'],
  ['%; nothing was put back.', 'sync.changed_since'],
  ['%; nothing was deleted.', 'sync.source_emptied'],
  ['an internal error', 'sync.internal'],
  ['failed', 'sync.unstated'],
];

export const migrations: readonly Migration[] = [
  {
    name: '001-create-jobs-and-tasks',
    async up(db) {
      await db.schema
        .createTable('keepsakes')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('value', 'text', (column) => column.notNull())
        .execute();
      await createRunTables(db);
      await createTaskTables(db);
    },
  },
  {
    name: '002-error-codes',
    async up(db) {
      for (const table of ['runs', 'run_files'] as const) {
        await db.schema
          .alterTable(table)
          .addColumn('error_code', 'text', (column) => column.notNull().defaultTo(''))
          .execute();
        for (const [sentence, code] of olderSentences) {
          await (db as Kysely<Tables>)
            .updateTable(table)
            .set({ error_code: code })
            .where('error', 'like', sentence)
            .execute();
        }
      }
    },
  },
  failureParameters,
  {
    name: '004-hosts-of-runs',
    up: (db) => db.schema.alterTable('runs').addColumn('host', 'text').execute(),
  },
  {
    name: '005-one-run-of-each-task',
    async up(db) {
      // Several hosts may have run a task at the same time; the rows of ended hosts are corrected at the start.
      await sql`update runs set state = 'interrupted', ended_at = started_at, error_code = 'sync.interrupted'
        where task_id is not null and state in ('waiting', 'running') and exists (
          select 1 from runs as others
          where others.task_id = runs.task_id and others.id > runs.id and others.state in ('waiting', 'running')
        )`.execute(db);
      await sql`create unique index runs_running_task on runs (task_id)
        where task_id is not null and state in ('waiting', 'running')`.execute(db);
    },
  },
];

/** Creates the tables of the runs of jobs, with their indexes. */
async function createRunTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('group_name', 'text', (column) => column.notNull())
    .addColumn('input', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('destination', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('started_at', 'integer', (column) => column.notNull())
    .addColumn('ended_at', 'integer')
    .addColumn('error', 'text', (column) => column.notNull())
    .addColumn('output', 'text', (column) => column.notNull())
    .addColumn('stats', 'text', (column) => column.notNull())
    .addColumn('speeds', 'text', (column) => column.notNull())
    .addColumn('task_id', 'integer')
    .addColumn('plan_id', 'integer')
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('runs_state').on('runs').columns(['state', 'id']).execute();
  await db.schema.createIndex('runs_task').on('runs').columns(['task_id', 'id']).execute();
  await db.schema.createIndex('runs_group').on('runs').columns(['group_name', 'id']).execute();
  await db.schema
    .createTable('run_files')
    .addColumn('job_id', 'integer', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('what', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('error', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('run_files_key', ['job_id', 'seq'])
    .execute();
}

/** Creates the tables of tasks and their previews, with their index. */
async function createTaskTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('tasks')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('paused', 'integer', (column) => column.notNull())
    .addColumn('next_at', 'integer')
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('plans')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('task_id', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('plans_task').on('plans').columns(['task_id', 'id']).execute();
}
