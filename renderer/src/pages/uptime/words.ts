import { explainFailure } from '../../../../services/contracts/uptime/causes.ts';
import type { MonitorRow } from '../../../../services/contracts/uptime/views.ts';
import type { IconName } from '../../parts/text/icons.ts';
import { formatMoment } from '../../parts/text/format.ts';

/** How a monitor stands, in a word and its tone. */
export interface StandingWords {
  readonly text: string;
  readonly tone: 'ok' | 'bad' | 'warn' | 'sea' | 'plain';
}

export function standingWords({ status, degraded, flapping }: MonitorRow['state'], active: boolean): StandingWords {
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
      // It may have been, before Homeport was started anew.
      return { text: 'Waiting for a check', tone: 'plain' };
  }
}

/** Since when it is so is told behind this: `up for 9 h`. */
export function sinceWords({ status }: Pick<MonitorRow['state'], 'status'>): string {
  return status === null ? '' : (['down', 'up', 'tried again', 'in maintenance'] as const)[status];
}

/** The state by its shape, besides the word. */
export function standingSign({ tone }: StandingWords, active: boolean): IconName {
  if (!active) return 'pause';
  return tone === 'ok' ? 'check' : tone === 'plain' || tone === 'sea' ? 'clock' : 'alert';
}

/** Kinds that the form offers, in order; what they need is asked for. */
export const kinds = [
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

export function kindWords(type: string): string {
  return kinds.find(([kind]) => kind === type)?.[1] ?? type;
}

/** What a check said, in plain words where it speaks in codes. */
export function causeWords(msg: string): string {
  const known = explainFailure(msg);
  if (known !== undefined) return known;
  // What a website that is up says, as the peer writes it: `200 - OK`.
  const answer = /^(\d{3}) - ?(.*)$/.exec(msg);
  if (answer !== null) return `It answered ${[answer[1], answer[2]].filter(Boolean).join(' ')}.`;
  return msg;
}

/** `38 ms`, `under 1 ms`: a figure stays with its unit. */
export function pingWords(ping: number): string {
  return ping < 1 ? 'under 1\u00a0ms' : `${Math.round(ping).toLocaleString('en')}\u00a0ms`;
}

/** 0.99954 as "99.95 %", all as 100 %: never rounded up to a whole that it is not, and in one piece. */
export function percentWords(share: number | null): string {
  if (share === null) return '';
  return `${share === 1 ? '100' : (Math.floor(share * 10_000) / 100).toFixed(2)}\u00a0%`;
}

/** "2 h 5 min", "4 h" */
export function lengthWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${String(Math.max(1, Math.round(ms / 1000)))} s`;
  if (minutes < 60) return `${String(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (hours < 48)
    return [`${String(hours)} h`, ...(minutes % 60 === 0 ? [] : [`${String(minutes % 60)} min`])].join(' ');
  return [`${String(days)} d`, ...(hours % 24 === 0 ? [] : [`${String(hours % 24)} h`])].join(' ');
}

/** When a note was put on a status page; the wire has its time in UTC without saying so. */
export function noteMoment({ createdDate }: { readonly createdDate: string }, now: number): string {
  return formatMoment(Date.parse(`${createdDate.replace(' ', 'T')}Z`), now);
}
