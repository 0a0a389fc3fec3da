import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import { addPagePassword } from './migration-page-access.ts';
import { createOwnerRequests } from './migration-owner-requests.ts';
import { createProxies } from './migration-proxies.ts';
import { statedFailures } from './migration-stated-failures.ts';
import { isPostgres } from './tables.ts';

export const migrations: readonly Migration[] = [
  {
    name: '001-create-monitors',
    async up(db) {
      await createMonitors(db);
      await createBeats(db);
      await createBuckets(db);
      await createIncidents(db);
      await createConfiguration(db);
    },
  },
  {
    name: '002-create-status-pages',
    async up(db) {
      await db.schema
        .createTable('status_pages')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('slug', 'text', (column) => column.notNull().unique())
        .addColumn('config', 'text', (column) => column.notNull())
        .addColumn('groups', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('page_notes')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('page_id', 'integer', (column) => column.notNull())
        .addColumn('style', 'text', (column) => column.notNull())
        .addColumn('title', 'text', (column) => column.notNull())
        .addColumn('content', 'text', (column) => column.notNull())
        .addColumn('pin', 'integer', (column) => column.notNull())
        .addColumn('active', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .addColumn('updated_at', 'integer')
        .execute();
      await db.schema.createIndex('page_notes_page').on('page_notes').columns(['page_id', 'id']).execute();
    },
  },
  {
    name: '003-create-tags',
    async up(db) {
      await db.schema
        .createTable('tags')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('color', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '004-create-maintenances',
    async up(db) {
      await db.schema
        .createTable('maintenances')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('config', 'text', (column) => column.notNull())
        .addColumn('since', 'integer', (column) => column.notNull())
        .addColumn('told', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '005-create-page-subscribers',
    async up(db) {
      await db.schema
        .createTable('page_subscribers')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('page_id', 'integer', (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .addColumn('confirmed', 'integer', (column) => column.notNull())
        .addColumn('created_at', 'integer', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '006-create-notifications',
    async up(db) {
      await db.schema
        .createTable('notifications')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
    },
  },
  {
    name: '007-keep-fractions-of-pings',
    async up(db) {
      // SQLite keeps fractions in integer columns.
      if (!isPostgres(db)) return;
      const columns = [
        ['beats', 'ping'],
        ...['ping_sum', 'ping_min', 'ping_max', 'p95'].map((column) => ['buckets', column]),
      ] as const;
      for (const [table = '', column = ''] of columns) {
        await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} type double precision`.execute(db);
      }
    },
  },
  statedFailures,
  createProxies,
  addPagePassword,
  createOwnerRequests,
];

function withoutRowId<Table extends string, Column extends string>(
  db: Kysely<any>,
  table: CreateTableBuilder<Table, Column>,
): CreateTableBuilder<Table, Column> {
  return isPostgres(db) ? table : table.modifyEnd(sql`without rowid`);
}

/** Creates the tables of monitors, their states and the messages of heartbeats. */
async function createMonitors(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('monitors')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('config', 'text', (column) => column.notNull())
    .addColumn('secrets', 'text')
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('standings')
    .addColumn('monitor_id', 'integer', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('messages')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('text', 'text', (column) => column.notNull().unique())
    .execute();
}

/** Creates the table of heartbeats. */
async function createBeats(db: Kysely<any>): Promise<void> {
  // Without row IDs, since a second index would double the size of a heartbeat.
  await withoutRowId(
    db,
    db.schema
      .createTable('beats')
      .addColumn('monitor_id', 'integer', (column) => column.notNull())
      .addColumn('at', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('ping', 'integer')
      .addColumn('message_id', 'integer', (column) => column.notNull())
      .addColumn('important', 'integer', (column) => column.notNull())
      .addColumn('retries', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('beats_key', ['monitor_id', 'at']),
  ).execute();
  await sql`create index beats_important on beats (at) where important = 1`.execute(db);
}

/** Creates the table of hours and days, into which heartbeats are rolled up. */
async function createBuckets(db: Kysely<any>): Promise<void> {
  await withoutRowId(
    db,
    db.schema
      .createTable('buckets')
      .addColumn('size', 'integer', (column) => column.notNull())
      .addColumn('monitor_id', 'integer', (column) => column.notNull())
      .addColumn('start', 'integer', (column) => column.notNull())
      .addColumn('up', 'integer', (column) => column.notNull())
      .addColumn('down', 'integer', (column) => column.notNull())
      .addColumn('maintenance', 'integer', (column) => column.notNull())
      .addColumn('up_ms', 'integer', (column) => column.notNull())
      .addColumn('down_ms', 'integer', (column) => column.notNull())
      .addColumn('ping_sum', 'integer', (column) => column.notNull())
      .addColumn('pings', 'integer', (column) => column.notNull())
      .addColumn('ping_min', 'integer')
      .addColumn('ping_max', 'integer')
      .addColumn('p95', 'integer')
      .addColumn('spread', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('buckets_key', ['size', 'monitor_id', 'start']),
  ).execute();
}

/** Creates the tables of incidents and their monitors. */
async function createIncidents(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('incidents')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('started_at', 'integer', (column) => column.notNull())
    .addColumn('resolved_at', 'integer')
    .addColumn('cause', 'text', (column) => column.notNull())
    .addColumn('acknowledged_by', 'text')
    .addColumn('acknowledged_at', 'integer')
    .addColumn('notes', 'text', (column) => column.notNull())
    .execute();
  await sql`create index incidents_open on incidents (id) where resolved_at is null`.execute(db);
  await db.schema
    .createTable('incident_monitors')
    .addColumn('incident_id', 'integer', (column) => column.notNull())
    .addColumn('monitor_id', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('incident_monitors_key', ['incident_id', 'monitor_id'])
    .execute();
  await db.schema
    .createIndex('incident_monitors_monitor')
    .on('incident_monitors')
    .columns(['monitor_id', 'incident_id'])
    .execute();
}

/** Creates the tables of container engines, API keys and options. */
async function createConfiguration(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('docker_hosts')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('docker_type', 'text', (column) => column.notNull())
    .addColumn('docker_daemon', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('api_keys')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('expires', 'integer')
    .addColumn('active', 'integer', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('options')
    .addColumn('name', 'text', (column) => column.primaryKey().notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
}
