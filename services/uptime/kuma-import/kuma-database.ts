import Sqlite from 'better-sqlite3';
import { Problem } from '../../contracts/problem.ts';
import type { Past, PastBeat, PastTally, Contents } from './backup.ts';
import { momentOf, parsed, textOf, wireFields, windowFields } from './kuma-rows.ts';

type Row = Readonly<Record<string, unknown>>;
type Database = Sqlite.Database;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Maximum number of imported heartbeats per monitor. */
const mostBeats = 5000;
const keptHours = 90 * 24;

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
  readonly holding: Contents;
  /** Reads the history of a monitor before `now`. */
  past(monitor: number, now: number): Past;
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
    return databaseOf(db);
  } catch (cause) {
    db?.close();
    if (cause instanceof Problem) throw cause;
    throw new Problem(
      'uptime.no_backup',
      400,
      'This database cannot be read. Stop Uptime Kuma and take its kuma.db once more.',
      { cause },
    );
  }
}

function databaseOf(db: Database): KumaDatabase {
  const known = new Set(
    (
      db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'").all() as {
        name: string;
      }[]
    ).map(({ name }) => name),
  );
  if (!known.has('monitor') || !known.has('heartbeat')) {
    throw new Problem('uptime.no_backup', 400, 'This is a database, but none of Uptime Kuma.');
  }
  const all = (table: Table): readonly Row[] =>
    known.has(table) ? (db.prepare(`SELECT * FROM "${table}"`).all() as Row[]) : [];
  const fields = (table: Table): readonly Row[] => {
    if (!known.has(table)) return [];
    const columns = db.pragma(`table_info("${table}")`) as { name: string; type: string }[];
    const flags = new Set(columns.filter(({ type }) => /^bool/i.test(type)).map(({ name }) => name));
    return all(table).map((row) => wireFields(row, flags));
  };
  const settings = new Map(all('setting').map(({ key, value }) => [key, parsed(value) ?? value]));
  const zone = settings.get('serverTimezone');
  const tags = new Map(all('tag').map((tag) => [tag['id'], tag]));
  const worn = Map.groupBy(all('monitor_tag'), (row) => row['monitor_id']);
  const told = Map.groupBy(all('monitor_notification'), (row) => row['monitor_id']);
  const holding: Contents = {
    tags: [...tags.values()].map(({ id, name, color }) => ({
      id: Number(id),
      name: textOf(name) || `tag ${String(id)}`,
      color: textOf(color) || '#4B5563',
    })),
    dockerHosts: fields('docker_host'),
    monitors: fields('monitor').map((monitor) => ({
      ...monitor,
      tags: (worn.get(monitor['id']) ?? []).map((row) => ({
        ...tags.get(row['tag_id']),
        ...row,
        value: textOf(row['value']),
      })),
      notificationIDList: Object.fromEntries(
        (told.get(monitor['id']) ?? []).map((row) => [row['notification_id'], true]),
      ),
    })),
    statusPages: pagesOf(all, fields('status_page')),
    maintenances: all('maintenance').map((row) => ({
      ...windowFields(row, typeof zone === 'string' ? zone : undefined),
      monitors: all('monitor_maintenance')
        .filter((one) => one['maintenance_id'] === row['id'])
        .map((one) => one['monitor_id']),
      statusPages: all('maintenance_status_page')
        .filter((one) => one['maintenance_id'] === row['id'])
        .map((one) => one['status_page_id']),
    })),
    notifications: all('notification').map(({ id, name, config }) => {
      const { type } = (parsed(config) ?? {}) as Row;
      const used = all('monitor_notification').filter((row) => row['notification_id'] === id);
      return { name: textOf(name), type: textOf(type), monitors: used.length };
    }),
    left: [
      ...all('proxy').map(({ protocol, host }) => ({ what: 'proxy', name: `${textOf(protocol)}://${textOf(host)}` })),
      ...all('api_key').map(({ name }) => ({ what: 'apiKey', name: textOf(name) })),
    ],
  };
  return {
    holding,
    past: (monitor, now) => ({
      beats: beatsOf(db, monitor, now),
      tallies: [
        ...(known.has('stat_hourly') ? talliesOf(db, 'stat_hourly', monitor, now) : []),
        ...(known.has('stat_daily') ? talliesOf(db, 'stat_daily', monitor, now) : []),
      ],
    }),
  };
}

function pagesOf(all: (table: Table) => readonly Row[], pages: readonly Row[]): readonly Row[] {
  const byWeight = (rows: readonly Row[]) => rows.toSorted((a, b) => Number(a['weight']) - Number(b['weight']));
  const of = (table: Table, page: Row) => all(table).filter((row) => row['status_page_id'] === page['id']);
  return pages.map((page) => ({
    ...page,
    domainNameList: of('status_page_cname', page).map(({ domain }) => domain),
    publicGroupList: byWeight(of('group', page)).map((group) => ({
      name: textOf(group['name']),
      monitorList: byWeight(all('monitor_group').filter((row) => row['group_id'] === group['id'])).map((row) => ({
        id: row['monitor_id'],
        sendUrl: row['send_url'] === 1,
        ...(textOf(row['custom_url']) === '' ? {} : { url: row['custom_url'] }),
      })),
    })),
    notes: of('incident', page).map((row) => ({
      ...{ title: row['title'], content: row['content'], style: row['style'] },
      ...{ pin: row['pin'] === 1, active: row['active'] === 1 },
      createdAt: momentOf(row['created_date']),
    })),
  }));
}

/** Reads the heartbeats of the last day, and the earlier state changes. */
function beatsOf(db: Database, monitor: number, now: number): readonly PastBeat[] {
  const rows = db
    .prepare(
      'SELECT time, status, msg, ping, important FROM heartbeat WHERE monitor_id = ? AND (important = 1 OR time >= ?) ORDER BY time DESC LIMIT ?',
    )
    .all(monitor, new Date(now - dayMs).toISOString().replace('T', ' ').slice(0, 23), mostBeats) as Row[];
  const beats = rows.toReversed().flatMap(({ time, status, msg, ping, important }) => {
    const at = momentOf(time);
    if (at === undefined || at > now || ![0, 1, 2, 3].includes(Number(status))) return [];
    return [
      {
        at,
        status: Number(status) as PastBeat['status'],
        msg: textOf(msg).slice(0, 5000),
        ping: typeof ping === 'number' ? ping : null,
        important: important === 1,
      },
    ];
  });
  return [...new Map(beats.map((beat) => [beat.at, beat])).values()];
}

/** Reads completed hours or days. Uptime Kuma counts heartbeats, which are assumed to have equal durations. */
function talliesOf(
  db: Database,
  table: 'stat_hourly' | 'stat_daily',
  monitor: number,
  now: number,
): readonly PastTally[] {
  const [size, lengthMs] = table === 'stat_hourly' ? ([1, hourMs] as const) : ([2, dayMs] as const);
  const end = Math.floor(now / lengthMs) * lengthMs;
  const from = table === 'stat_hourly' ? now - keptHours * hourMs : 0;
  const rows = db
    .prepare(`SELECT * FROM ${table} WHERE monitor_id = ? AND timestamp >= ? AND timestamp < ? ORDER BY timestamp`)
    .all(monitor, from / 1000, end / 1000) as Row[];
  return rows.map((row) => {
    const figure = (name: string): number => Math.max(0, Number(row[name]) || 0);
    const [up, down] = [figure('up'), figure('down')];
    const { maintenance } = (parsed(row['extras']) ?? {}) as Row;
    return {
      size,
      start: figure('timestamp') * 1000,
      ...{ up, down, maintenance: Number(maintenance) || 0 },
      share: up + down === 0 ? 0 : up / (up + down),
      ...{ ping: figure('ping'), pingMin: figure('ping_min'), pingMax: figure('ping_max') },
    };
  });
}
