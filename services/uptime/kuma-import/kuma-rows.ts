import { findOwn } from '../../contracts/find-own.ts';
import { parseJson } from '../../contracts/parse-json.ts';

type Row = Readonly<Record<string, unknown>>;
type Fields = Record<string, unknown>;

/** API names that contain an underscore; all others are in camel case. */
const wireNames = new Set([
  ...[
    'dns_resolve_type',
    'dns_resolve_server',
    'docker_container',
    'docker_host',
    'basic_auth_user',
    'basic_auth_pass',
  ],
  ...[
    'oauth_client_id',
    'oauth_client_secret',
    'oauth_token_url',
    'oauth_scopes',
    'oauth_audience',
    'oauth_auth_method',
  ],
  ...['bearer_token', 'manual_status', 'ping_numeric', 'ping_count', 'ping_per_request_timeout', 'remote_browser'],
  ...['screenshot_delay', 'system_service_name'],
]);
const renamedColumns: Readonly<Record<string, string>> = {
  accepted_statuscodes_json: 'accepted_statuscodes',
  custom_css: 'customCSS',
  google_analytics_tag_id: 'analyticsId',
};
/** Columns with JSON text. */
const jsonColumns = new Set([
  'accepted_statuscodes',
  'kafkaProducerBrokers',
  'kafkaProducerSaslOptions',
  'rabbitmqNodes',
  'conditions',
]);
/** Fields in which 0 means that no value is set. */
const zeroIsNone = new Set(['retryInterval', 'timeout']);

/**
 * Converts a row of Uptime Kuma to its API names.
 * @param flags Boolean columns
 */
export function toWireFields(row: Row, flags: ReadonlySet<string>): Fields {
  const fields: Fields = {};
  for (const [column, value] of Object.entries(row)) {
    const name = findOwn(renamedColumns, column) ?? (wireNames.has(column) ? column : toCamelCase(column));
    if (flags.has(column)) fields[name] = value === null ? null : Number(value) === 1;
    else if (jsonColumns.has(name))
      fields[name] = parseJsonColumn(value) ?? (name === 'accepted_statuscodes' ? undefined : null);
    else fields[name] = zeroIsNone.has(name) && value === 0 ? null : value;
    if (fields[name] === undefined) delete fields[name];
  }
  return fields;
}

/**
 * Converts a maintenance window of Uptime Kuma to its API form.
 * @param zone Time zone of the server
 */
export function toMaintenanceFields(row: Row, zone: string | undefined): Fields {
  const { id, title, description, strategy, active, cron, duration, timezone } = row;
  const zoneText = toText(timezone);
  const [from, to] = [toTimeOfDay(row['start_time']), toTimeOfDay(row['end_time'])];
  return {
    ...{ id, title, description, strategy, cron },
    active: active === 1,
    intervalDay: row['interval_day'] ?? 1,
    dateRange: [toDateText(row['start_date']), toDateText(row['end_date'])],
    ...(from === undefined || to === undefined ? {} : { timeRange: [from, to] }),
    weekdays: parseJsonColumn(row['weekdays']) ?? [],
    daysOfMonth: parseJsonColumn(row['days_of_month']) ?? [],
    ...(typeof duration === 'number' ? { durationMinutes: duration / 60 } : {}),
    timezoneOption: zoneText === '' || zoneText === 'SAME_AS_SERVER' ? zone : zoneText,
  };
}

/** Parses `2026-11-21 02:25:20.123` in UTC; undefined for other text. */
export function parseTimestamp(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(`${value.replace(' ', 'T').replace(/Z?$/, 'Z')}`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function parseJsonColumn(value: unknown): unknown {
  return typeof value === 'string' ? parseJson(value) : undefined;
}

function toCamelCase(column: string): string {
  return column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function toDateText(value: unknown): string | null {
  return /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?/.exec(toText(value))?.[0] ?? null;
}

function toTimeOfDay(value: unknown): { hours: number; minutes: number; seconds: number } | undefined {
  const [, hours, minutes, seconds = '0'] = /^(\d\d?):(\d\d)(?::(\d\d))?/.exec(toText(value)) ?? [];
  return hours === undefined ? undefined : { hours: Number(hours), minutes: Number(minutes), seconds: Number(seconds) };
}
