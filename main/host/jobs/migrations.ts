import { sql } from 'kysely';
import type { Migration } from '../../../services/contracts/service.ts';

/** Migrations of the jobs table; they run before those of the service. */
export const jobsMigrations: readonly Migration[] = [
  {
    name: 'jobs-001-create',
    async up(db) {
      await db.schema
        .createTable('jobs')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('job_key', 'text')
        .addColumn('order_key', 'text')
        // 1: waits for another job with the same order key. An optimization for claims, which check it themselves.
        .addColumn('held', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('state', 'text', (column) => column.notNull().defaultTo('waiting'))
        .addColumn('payload', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .addColumn('run_at', 'integer', (column) => column.notNull())
        .addColumn('finished_at', 'integer')
        .addColumn('lease_owner', 'text')
        .addColumn('lease_until', 'integer')
        .addColumn('last_error', 'text')
        .execute();
      await sql`create unique index jobs_key on jobs (kind, job_key)`.execute(db);
      await sql`create index jobs_state on jobs (state, id)`.execute(db);
      await sql`create index jobs_due on jobs (kind, run_at, id) where state = 'waiting' and held = 0`.execute(db);
      await sql`create index jobs_order on jobs (kind, order_key, id)
        where order_key is not null and state in ('waiting', 'running')`.execute(db);
      // Guarantees sequential execution when two hosts claim at the same time.
      await sql`create unique index jobs_one_running on jobs (kind, order_key)
        where order_key is not null and state = 'running'`.execute(db);
    },
  },
  {
    name: 'jobs-002-count-crashes',
    async up(db) {
      await db.schema
        .alterTable('jobs')
        .addColumn('crashes', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    },
  },
];
