import { PostgresAdapter, sql, type Generated, type Kysely } from 'kysely';
import type { HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { noteStyles } from '../../contracts/uptime/status-pages.ts';

export interface Tables {
  monitors: {
    id: Generated<number>;
    /** JSON of all fields except secrets. */
    config: string;
    /** Sealed JSON of the secret fields; null without secrets. */
    secrets: string | null;
    created_at: number;
  };
  /** Requests to the host that checks the monitors; `body` is JSON. */
  owner_requests: { id: Generated<number>; monitor_id: number; body: string };
  /** JSON of `Remembered`. */
  standings: { monitor_id: number; body: string };
  /**
   * Messages of heartbeats, which repeat, in English. `failure` is the JSON of the failure that a check states; null for
   * any other.
   */
  messages: { id: Generated<number>; text: string; failure: string | null };
  beats: {
    monitor_id: number;
    /** Milliseconds since the epoch. */
    at: number;
    status: HeartbeatStatus;
    ping: number | null;
    message_id: number;
    important: 0 | 1;
    retries: number;
  };
  /** Heartbeats of an hour or a day, rolled up. */
  buckets: {
    size: BucketSize;
    monitor_id: number;
    /** Milliseconds since the epoch. */
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
  /** Notifications of Uptime Kuma clients, as sealed JSON. */
  notifications: { id: number; sealed: string };
  /** Proxies of monitors, as sealed JSON. */
  proxies: { id: Generated<number>; sealed: string };
  incidents: {
    id: Generated<number>;
    started_at: number;
    resolved_at: number | null;
    /** In English, as clients of Uptime Kuma receive it. */
    cause: string;
    /** JSON of the failure that a check states; null for any other. */
    failure: string | null;
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
    /** SHA-256 of the key, which is random and needs no password hash. */
    hash: string;
    created_at: number;
    expires: number | null;
    active: 0 | 1;
  };
  /** `config` and `told`: JSON. */
  maintenances: { id: Generated<number>; config: string; since: number; told: string };
  options: { name: string; value: string };
  tags: { id: Generated<number>; name: string; color: string };
  /** `config` and `groups`: JSON. `password_hash`: PHC notation. */
  status_pages: {
    id: Generated<number>;
    slug: string;
    config: string;
    groups: string;
    password_hash: string | null;
  };
  /** Mail subscribers of a page; `sealed` is the JSON of address, token and base URL. */
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

/** Size of a bucket: 1 is an hour, 2 a day in UTC. */
export type BucketSize = 1 | 2;
export const bucketMs: Readonly<Record<BucketSize, number>> = { 1: 3_600_000, 2: 86_400_000 };

export function isPostgres(db: Kysely<any>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Returns the size of the tables on disk in bytes. */
export async function databaseSize(db: Kysely<Tables>): Promise<number> {
  const statement = isPostgres(db)
    ? sql<{ size: number | string }>`select coalesce(sum(pg_total_relation_size(oid)), 0) as size from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace`
    : sql<{ size: number | string }>`select page_count * page_size as size
        from pragma_page_count(), pragma_page_size()`;
  const { rows } = await statement.execute(db);
  return Number(rows[0]?.size ?? 0);
}

/** Frees the space of deleted rows on disk. Blocks other statements. */
export async function shrinkDatabase(db: Kysely<Tables>): Promise<void> {
  if (!isPostgres(db)) {
    await sql`vacuum`.execute(db);
    return;
  }
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(db);
  for (const { name } of rows) await sql`vacuum full ${sql.table(name)}`.execute(db);
}
