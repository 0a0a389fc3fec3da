import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { UptimeExport } from '../../contracts/uptime/manage.ts';
import type { HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { BucketSize } from '../store/tables.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { toRecord } from '../../contracts/is-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Imported heartbeat. */
export interface ImportedHeartbeat {
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly ping: number | null;
  readonly important: boolean;
}

/** Imported hour or day. */
export interface ImportedTally {
  readonly size: BucketSize;
  readonly start: number;
  readonly up: number;
  readonly down: number;
  readonly maintenance: number;
  /** Share of up time. */
  readonly share: number;
  /** Average response time in milliseconds; 0 when unknown. */
  readonly ping: number;
  readonly pingMin: number;
  readonly pingMax: number;
}

/** Imported history of a monitor. */
export interface MonitorHistory {
  readonly heartbeats: readonly ImportedHeartbeat[];
  readonly tallies: readonly ImportedTally[];
}

/** Contents of an import; the IDs are those of the source. */
export interface BackupContents {
  readonly tags: readonly { readonly id: number; readonly name: string; readonly color: string }[];
  readonly dockerHosts: readonly Fields[];
  readonly proxies: readonly Fields[];
  readonly monitors: readonly Fields[];
  readonly statusPages: readonly Fields[];
  readonly maintenances: readonly Fields[];
  /** Notifications of the source, which must be set up in Delivery. */
  readonly notifications?: readonly { readonly name: string; readonly type: string; readonly monitors: number }[];
  /** Entries without an equivalent here. */
  readonly unsupported?: readonly { readonly what: string; readonly name: string }[];
}

/** Contents with access to the history of the monitors, if available. */
export interface ImportSource extends BackupContents {
  readonly readHistory?: (monitor: number, until: number) => Promise<MonitorHistory>;
}

/** Derived fields, which are not imported. */
const derivedFields = [
  'id',
  'path',
  'pathName',
  'childrenIDs',
  'forceInactive',
  'maintenance',
  'includeSensitiveData',
  'state',
  'secrets',
  'user_id',
  'created_date',
  'dns_last_result',
  'screenshot',
  'provisioned',
  'userId',
  'createdDate',
  'dnsLastResult',
];

/** @throws Problem `uptime.no_backup` (400) */
export function parseBackup(document: Fields): ImportSource {
  if (document['format'] === 'homeport-uptime') {
    const parsed = UptimeExport.safeParse(document);
    if (!parsed.success) throw new Problem('uptime.no_backup', 400, z.prettifyError(parsed.error));
    return parsed.data;
  }
  const monitors = toRecords(document['monitorList']);
  if (monitors.length === 0 && document['monitorList'] === undefined) {
    throw new Problem('uptime.no_backup', 400, m.backupWithoutMonitors());
  }
  return {
    tags: collectTags(monitors),
    dockerHosts: toRecords(document['dockerHostList']),
    proxies: toRecords(document['proxyList']),
    monitors,
    statusPages: toRecords(document['statusPageList']),
    maintenances: toRecords(document['maintenanceList']),
    notifications: toRecords(document['notificationList']).map((one) => ({
      name: toText(one['name']),
      type: toText(one['type']) || toText(parseSettings(one)['type']),
      monitors: monitors.filter(
        ({ notificationIDList: list }) => typeof list === 'object' && list !== null && String(one['id']) in list,
      ).length,
    })),
  };
}

/** Returns the importable fields of a monitor, with references replaced by local IDs. */
export function toMonitorFields(
  monitor: Fields,
  idMaps: {
    readonly tags: ReadonlyMap<number, number>;
    readonly engines: ReadonlyMap<number, number>;
    readonly proxies: ReadonlyMap<number, number>;
    readonly monitors: ReadonlyMap<number, number>;
  },
): Record<string, unknown> {
  const fields = Object.fromEntries(Object.entries(monitor).filter(([name]) => !derivedFields.includes(name)));
  const { docker_host: engine, dependsOn, parent, proxyId } = fields;
  const tags = parseTags(monitor).flatMap(({ id, value }) => {
    const tag = idMaps.tags.get(id);
    return tag === undefined ? [] : [{ tag_id: tag, value }];
  });
  return {
    ...fields,
    tags,
    parent: idMaps.monitors.get(Number(parent)) ?? null,
    docker_host: idMaps.engines.get(Number(engine)) ?? null,
    proxyId: idMaps.proxies.get(Number(proxyId)) ?? null,
    ...(Array.isArray(dependsOn)
      ? { dependsOn: dependsOn.flatMap((one) => idMaps.monitors.get(Number(one)) ?? []) }
      : {}),
  };
}

/** Sorts groups before their members. A monitor with a missing group comes first. */
export function sortGroupsFirst(monitors: readonly Fields[]): readonly Fields[] {
  const byId = new Map(monitors.map((monitor) => [Number(monitor['id']), monitor]));
  const depth = (monitor: Fields, seen: ReadonlySet<Fields>): number => {
    const parent = byId.get(Number(monitor['parent']));
    return parent === undefined || seen.has(parent) ? 0 : 1 + depth(parent, new Set([...seen, monitor]));
  };
  return monitors
    .map((monitor) => ({ monitor, level: depth(monitor, new Set()) }))
    .toSorted((a, b) => a.level - b.level)
    .map(({ monitor }) => monitor);
}

function collectTags(monitors: readonly Fields[]): ImportSource['tags'] {
  const tags = new Map<number, ImportSource['tags'][number]>();
  for (const monitor of monitors)
    for (const { id, name, color } of parseTags(monitor)) tags.set(id, { id, name, color });
  return [...tags.values()];
}

function parseTags(monitor: Fields) {
  return toRecords(monitor['tags']).map((tag) => ({
    id: Number(tag['tag_id'] ?? tag['id']),
    name: toText(tag['name']) || `tag ${String(Number(tag['tag_id'] ?? tag['id']))}`,
    color: toText(tag['color']) || '#4B5563',
    value: toText(tag['value']),
  }));
}

/** Newer releases store the configuration as a JSON text. */
function parseSettings({ config }: Fields): Fields {
  return toRecord(typeof config === 'string' ? parseJson(config) : config);
}

/** Accepts a list, or the object by ID that newer releases write. */
function toRecords(value: unknown): readonly Fields[] {
  if (typeof value !== 'object' || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return list.filter((one): one is Fields => typeof one === 'object' && one !== null);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
