import { PostgresAdapter, sql, type Generated, type Kysely } from 'kysely';
import type { HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { noteStyles } from '../../contracts/uptime/status-pages.ts';

export interface Tables {
  monitors: {
    id: Generated<number>;
    /** JSON of all fields but the secret ones. */
    config: string;
    /** JSON of those, sealed; null: it has none. */
    secrets: string | null;
    created_at: number;
  };
  /** What is remembered of a monitor beside its beats: JSON. */
  standings: { monitor_id: number; body: string };
  /** Texts of beats: they repeat. */
  messages: { id: Generated<number>; text: string };
  beats: {
    monitor_id: number;
    /** ms since the epoch. */
    at: number;
    status: HeartbeatStatus;
    ping: number | null;
    message_id: number;
    important: 0 | 1;
    retries: number;
  };
  /** Beats of an hour or a day together. */
  buckets: {
    size: BucketSize;
    monitor_id: number;
    /** ms since the epoch. */
    start: number;
    up: number;
    down: number;
    maintenance: number;
    up_ms: number;
    down_ms: number;
    ping_sum: number;
    pings: number;
    ping_min: number | null;
    ping_max: number | null;
    p95: number | null;
    /** See `spreadText`. */
    spread: string;
  };
  /** Where clients of Uptime Kuma send alerts; JSON, sealed. */
  notifications: { id: number; sealed: string };
  incidents: {
    id: Generated<number>;
    started_at: number;
    resolved_at: number | null;
    cause: string;
    acknowledged_by: string | null;
    acknowledged_at: number | null;
    /** JSON list. */
    notes: string;
  };
  incident_monitors: { incident_id: number; monitor_id: number };
  docker_hosts: { id: Generated<number>; name: string; docker_type: 'socket' | 'tcp'; docker_daemon: string };
  api_keys: {
    id: Generated<number>;
    name: string;
    /** SHA-256 of the key; its 40 random characters need no slower one. */
    hash: string;
    created_at: number;
    expires: number | null;
    active: 0 | 1;
  };
  /** `config` and `told`: JSON. */
  maintenances: { id: Generated<number>; config: string; since: number; told: string };
  options: { name: string; value: string };
  tags: { id: Generated<number>; name: string; color: string };
  /** `config` and `groups`: JSON. */
  status_pages: { id: Generated<number>; slug: string; config: string; groups: string };
  /** Visitors who follow a page by mail; `sealed`: JSON of their address and what their links are made of. */
  page_subscribers: { id: Generated<number>; page_id: number; sealed: string; confirmed: 0 | 1; created_at: number };
  page_notes: {
    id: Generated<number>;
    page_id: number;
    style: (typeof noteStyles)[number];
    title: string;
    content: string;
    pin: 0 | 1;
    active: 0 | 1;
    created_at: number;
    updated_at: number | null;
  };
}

/** 1: an hour, 2: a day of UTC. */
export type BucketSize = 1 | 2;
export const bucketMs: Readonly<Record<BucketSize, number>> = { 1: 3_600_000, 2: 86_400_000 };

export function isPostgres(db: Kysely<any>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Bytes that the tables take on the disk. */
export async function databaseSize(db: Kysely<Tables>): Promise<number> {
  const statement = isPostgres(db)
    ? sql<{ size: number | string }>`select coalesce(sum(pg_total_relation_size(oid)), 0) as size from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace`
    : sql<{ size: number | string }>`select page_count * page_size as size
        from pragma_page_count(), pragma_page_size()`;
  const { rows } = await statement.execute(db);
  return Number(rows[0]?.size ?? 0);
}

/** Gives the space of deleted rows back to the disk. Other statements wait for it. */
export async function shrinkDatabase(db: Kysely<Tables>): Promise<void> {
  if (!isPostgres(db)) {
    await sql`vacuum`.execute(db);
    return;
  }
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(db);
  for (const { name } of rows) await sql`vacuum full ${sql.table(name)}`.execute(db);
}
