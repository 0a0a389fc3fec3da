import { explainFailure } from '../../../../../services/contracts/uptime/causes.ts';
import { getServerPlatform } from '../../../state/server-platform.ts';
import type { MonitorRow } from '../../../../../services/contracts/uptime/views.ts';
import type { IconName } from '../../../icons/icons.ts';
import { formatMoment } from '../../../parts/text/format.ts';

/** Label and tone of the status of a monitor. */
export interface MonitorStatusLabel {
  readonly text: string;
  readonly tone: 'ok' | 'bad' | 'warn' | 'sea' | 'plain';
}

export function getStatusLabel(
  { status, degraded, flapping }: MonitorRow['state'],
  active: boolean,
): MonitorStatusLabel {
  if (!active) return { text: 'Paused', tone: 'plain' };
  if (flapping === true) return { text: 'Flapping', tone: 'warn' };
  switch (status) {
    case 0:
      return { text: 'Down', tone: 'bad' };
    case 1:
      return degraded === true ? { text: 'Slow', tone: 'warn' } : { text: 'Up', tone: 'ok' };
    case 2:
      return { text: 'Trying again', tone: 'warn' };
    case 3:
      return { text: 'Maintenance', tone: 'sea' };
    default:
      // It may have been checked before Homeport was restarted.
      return { text: 'Waiting for a check', tone: 'plain' };
  }
}

/** Returns the status as the beginning of a phrase, such as `up` in `up for 9 h`. */
export function getStatusPhrase({ status }: Pick<MonitorRow['state'], 'status'>): string {
  return status === null ? '' : (['down', 'up', 'tried again', 'in maintenance'] as const)[status];
}

/** Returns the icon of a status. */
export function getStatusIcon({ tone }: MonitorStatusLabel, active: boolean): IconName {
  if (!active) return 'pause';
  return tone === 'ok' ? 'check' : tone === 'plain' || tone === 'sea' ? 'clock' : 'alert';
}

/** Monitor types of the form, in order. */
export const monitorTypes = [
  ['http', 'Website or HTTP service'],
  ['keyword', 'Website with a keyword'],
  ['json-query', 'Value in JSON'],
  ['port', 'TCP port'],
  ['ping', 'Ping'],
  ['docker', 'Container'],
  ['push', 'Job that reports itself'],
  ['dns', 'DNS record'],
  ['smtp', 'Mail server'],
  ['websocket-upgrade', 'WebSocket'],
  ['postgres', 'PostgreSQL'],
  ['redis', 'Redis'],
  ['mqtt', 'MQTT topic'],
  ['ntp', 'Time server (NTP)'],
  ['group', 'Group of monitors'],
  ['manual', 'Set by hand'],
] as const;

export function getTypeLabel(type: string): string {
  return monitorTypes.find(([kind]) => kind === type)?.[1] ?? type;
}

/** Formats the message of a check and explains known error codes. */
export function formatCause(msg: string): string {
  const explanation = explainFailure(msg, getServerPlatform());
  if (explanation !== undefined) return explanation;
  // Uptime Kuma writes the answer of a website that is up as `200 - OK`.
  const answer = /^(\d{3}) - ?(.*)$/.exec(msg);
  if (answer !== null) return `It answered ${[answer[1], answer[2]].filter(Boolean).join(' ')}.`;
  return msg;
}

/** Formats a response time, such as `38 ms`, with a non-breaking space. */
export function formatPing(ping: number): string {
  return ping < 1 ? 'under 1\u00a0ms' : `${Math.round(ping).toLocaleString('en')}\u00a0ms`;
}

/** Formats a share as a percentage, such as 0.99954 as `99.95 %`. Rounds down, so that only 1 becomes `100 %`. */
export function formatPercent(share: number | null): string {
  if (share === null) return '';
  return `${share === 1 ? '100' : (Math.floor(share * 10_000) / 100).toFixed(2)}\u00a0%`;
}

/** Formats a duration in ms, such as `2 h 5 min` or `4 h`. */
export function formatLength(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${String(Math.max(1, Math.round(ms / 1000)))} s`;
  if (minutes < 60) return `${String(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (hours < 48)
    return [`${String(hours)} h`, ...(minutes % 60 === 0 ? [] : [`${String(minutes % 60)} min`])].join(' ');
  return [`${String(days)} d`, ...(hours % 24 === 0 ? [] : [`${String(hours % 24)} h`])].join(' ');
}

/** Formats the creation time of a note; the API returns it in UTC without a time zone. */
export function formatNoteTime({ createdDate }: { readonly createdDate: string }, now: number): string {
  return formatMoment(Date.parse(`${createdDate.replace(' ', 'T')}Z`), now);
}
