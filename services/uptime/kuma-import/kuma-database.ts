import * as m from '#messages/uptime-problems';
import Sqlite from 'better-sqlite3';
import { Problem } from '../../contracts/problem.ts';
import type { MonitorHistory, ImportedHeartbeat, ImportedTally, BackupContents } from './backup.ts';
import { parseTimestamp, parseJsonColumn, toText, toWireFields, toMaintenanceFields } from './kuma-rows.ts';

type Row = Readonly<Record<string, unknown>>;
type Database = Sqlite.Database;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Maximum number of imported heartbeats per monitor. */
const maxHeartbeats = 5000;
const storedHours = 90 * 24;

type Table =
  | 'monitor'
  | 'tag'
  | 'monitor_tag'
  | 'docker_host'
  | 'status_page'
  | 'status_page_cname'
  | 'group'
  | 'monitor_group'
  | 'incident'
  | 'maintenance'
  | 'monitor_maintenance'
  | 'maintenance_status_page'
  | 'notification'
  | 'monitor_notification'
  | 'proxy'
  | 'api_key'
  | 'setting'
  | 'heartbeat'
  | 'stat_hourly'
  | 'stat_daily';

/** Open `kuma.db` of Uptime Kuma 1 or 2. */
interface KumaDatabase {
  readonly contents: BackupContents;
  /** Reads the history of a monitor before `now`. */
  readHistory(monitor: number, now: number): MonitorHistory;
}

/** Reads the tables of a database. Tables that a version of Uptime Kuma does not have are empty. */
class KumaTables {
  readonly #db: Database;
  readonly #names: ReadonlySet<string>;

  constructor(db: Database) {
    this.#db = db;
    const tables = db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
      .all() as { name: string }[];
    this.#names = new Set(tables.map(({ name }) => name));
  }

  has(table: Table): boolean {
    return this.#names.has(table);
  }

  read(table: Table): readonly Row[] {
    return this.has(table) ? (this.#db.prepare(`SELECT * FROM "${table}"`).all() as Row[]) : [];
  }

  /** Reads rows in the format of the socket protocol, in which flags are booleans. */
  readFields(table: Table): readonly Row[] {
    if (!this.has(table)) return [];
    const columns = this.#db.pragma(`table_info("${table}")`) as { name: string; type: string }[];
    const flags = new Set(columns.filter(({ type }) => /^bool/i.test(type)).map(({ name }) => name));
    return this.read(table).map((row) => toWireFields(row, flags));
  }
}

/**
 * Opens a database synchronously, in a separate process.
 * @throws Problem `uptime.no_backup` (400)
 */
export function openKumaDatabase(file: string): KumaDatabase {
  let db: Database | undefined;
  try {
    // Opened for writing: a copy of a running instance needs its write-ahead log recreated.
    db = new Sqlite(file, { fileMustExist: true });
    db.pragma('trusted_schema = off');
    db.pragma('query_only = on');
    return readDatabase(db);
  } catch (cause) {
    db?.close();
    if (cause instanceof Problem) throw cause;
    throw new Problem('uptime.no_backup', 400, m.databaseUnreadable, { cause });
  }
}

/** Code of the problem of a database of another program. */
export const foreignDatabaseCode = 'uptime.foreign_database';

/** @throws Problem `uptime.foreign_database` (400) */
function readDatabase(db: Database): KumaDatabase {
  const tables = new KumaTables(db);
  if (!tables.has('monitor') || !tables.has('heartbeat')) {
    throw new Problem(foreignDatabaseCode, 400, m.databaseForeign);
  }
  return {
    contents: readContents(tables),
    readHistory: (monitor, now) => ({
      heartbeats: readHeartbeats(db, monitor, now),
      tallies: [
        ...(tables.has('stat_hourly') ? readTallies(db, 'stat_hourly', monitor, now) : []),
        ...(tables.has('stat_daily') ? readTallies(db, 'stat_daily', monitor, now) : []),
      ],
    }),
  };
}

function readContents(tables: KumaTables): BackupContents {
  const settings = new Map(tables.read('setting').map(({ key, value }) => [key, parseJsonColumn(value) ?? value]));
  const zone = settings.get('serverTimezone');
  const tags = new Map(tables.read('tag').map((tag) => [tag['id'], tag]));
  return {
    tags: [...tags.values()].map(({ id, name, color }) => ({
      id: Number(id),
      name: toText(name) || `tag ${String(id)}`,
      color: toText(color) || '#4B5563',
    })),
    dockerHosts: tables.readFields('docker_host'),
    proxies: tables.readFields('proxy'),
    monitors: readMonitors(tables, tags),
    statusPages: readPages(tables),
    maintenances: readMaintenances(tables, typeof zone === 'string' ? zone : undefined),
    notifications: tables.read('notification').map(({ id, name, config }) => {
      const { type } = (parseJsonColumn(config) ?? {}) as Row;
      const rows = tables.read('monitor_notification').filter((row) => row['notification_id'] === id);
      return { name: toText(name), type: toText(type), monitors: rows.length };
    }),
    unsupported: tables.read('api_key').map(({ name }) => ({ what: 'apiKey', name: toText(name) })),
  };
}

function readMonitors(tables: KumaTables, tags: ReadonlyMap<unknown, Row>): readonly Row[] {
  const tagsByMonitor = Map.groupBy(tables.read('monitor_tag'), (row) => row['monitor_id']);
  const notificationsByMonitor = Map.groupBy(tables.read('monitor_notification'), (row) => row['monitor_id']);
  return tables.readFields('monitor').map((monitor) => ({
    ...monitor,
    tags: (tagsByMonitor.get(monitor['id']) ?? []).map((row) => ({
      ...tags.get(row['tag_id']),
      ...row,
      value: toText(row['value']),
    })),
    notificationIDList: Object.fromEntries(
      (notificationsByMonitor.get(monitor['id']) ?? []).map((row) => [row['notification_id'], true]),
    ),
  }));
}

function readMaintenances(tables: KumaTables, serverZone: string | undefined): readonly Row[] {
  return tables.read('maintenance').map((row) => ({
    ...toMaintenanceFields(row, serverZone),
    monitors: tables
      .read('monitor_maintenance')
      .filter((one) => one['maintenance_id'] === row['id'])
      .map((one) => one['monitor_id']),
    statusPages: tables
      .read('maintenance_status_page')
      .filter((one) => one['maintenance_id'] === row['id'])
      .map((one) => one['status_page_id']),
  }));
}

function readPages(tables: KumaTables): readonly Row[] {
  const byWeight = (rows: readonly Row[]) => rows.toSorted((a, b) => Number(a['weight']) - Number(b['weight']));
  const findRows = (table: Table, page: Row) =>
    tables.read(table).filter((row) => row['status_page_id'] === page['id']);
  return tables.readFields('status_page').map((page) => ({
    ...page,
    domainNameList: findRows('status_page_cname', page).map(({ domain }) => domain),
    publicGroupList: byWeight(findRows('group', page)).map((group) => ({
      name: toText(group['name']),
      monitorList: byWeight(tables.read('monitor_group').filter((row) => row['group_id'] === group['id'])).map(
        (row) => ({
          id: row['monitor_id'],
          sendUrl: row['send_url'] === 1,
          ...(toText(row['custom_url']) === '' ? {} : { url: row['custom_url'] }),
        }),
      ),
    })),
    notes: findRows('incident', page).map((row) => ({
      ...{ title: row['title'], content: row['content'], style: row['style'] },
      ...{ pin: row['pin'] === 1, active: row['active'] === 1 },
      createdAt: parseTimestamp(row['created_date']),
    })),
  }));
}

/** Reads the heartbeats of the last day, and the earlier state changes. */
function readHeartbeats(db: Database, monitor: number, now: number): readonly ImportedHeartbeat[] {
  const rows = db
    .prepare(
      'SELECT time, status, msg, ping, important FROM heartbeat WHERE monitor_id = ? AND (important = 1 ' +
        'OR time >= ?) ORDER BY time DESC LIMIT ?',
    )
    .all(monitor, new Date(now - dayMs).toISOString().replace('T', ' ').slice(0, 23), maxHeartbeats) as Row[];
  const beats = rows.toReversed().flatMap(({ time, status, msg, ping, important }) => {
    const at = parseTimestamp(time);
    if (at === undefined || at > now || ![0, 1, 2, 3].includes(Number(status))) return [];
    return [
      {
        at,
        status: Number(status) as ImportedHeartbeat['status'],
        msg: toText(msg).slice(0, 5000),
        ping: typeof ping === 'number' ? ping : null,
        important: important === 1,
      },
    ];
  });
  return [...new Map(beats.map((beat) => [beat.at, beat])).values()];
}

/** Reads completed hours or days. Uptime Kuma counts heartbeats, which are assumed to have equal durations. */
function readTallies(
  db: Database,
  table: 'stat_hourly' | 'stat_daily',
  monitor: number,
  now: number,
): readonly ImportedTally[] {
  const [size, lengthMs] = table === 'stat_hourly' ? ([1, hourMs] as const) : ([2, dayMs] as const);
  const end = Math.floor(now / lengthMs) * lengthMs;
  const from = table === 'stat_hourly' ? now - storedHours * hourMs : 0;
  const rows = db
    .prepare(`SELECT * FROM ${table} WHERE monitor_id = ? AND timestamp >= ? AND timestamp < ? ORDER BY timestamp`)
    .all(monitor, from / 1000, end / 1000) as Row[];
  return rows.map((row) => {
    const getCount = (name: string): number => Math.max(0, Number(row[name]) || 0);
    const [up, down] = [getCount('up'), getCount('down')];
    const { maintenance } = (parseJsonColumn(row['extras']) ?? {}) as Row;
    return {
      size,
      start: getCount('timestamp') * 1000,
      ...{ up, down, maintenance: Number(maintenance) || 0 },
      share: up + down === 0 ? 0 : up / (up + down),
      ...{ ping: getCount('ping'), pingMin: getCount('ping_min'), pingMax: getCount('ping_max') },
    };
  });
}
