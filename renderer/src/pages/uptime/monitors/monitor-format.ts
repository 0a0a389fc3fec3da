import * as m from '#messages/uptime';
import { defineNumberFormat, formatNumber } from '../../../../../messages/format.ts';
import { explainFailure, type CheckMessage } from '../../../../../services/contracts/uptime/causes.ts';
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
  if (!active) return { text: m.monitorPaused(), tone: 'plain' };
  if (flapping === true) return { text: m.flapping(), tone: 'warn' };
  switch (status) {
    case 0:
      return { text: m.monitorDown(), tone: 'bad' };
    case 1:
      return degraded === true ? { text: m.slow(), tone: 'warn' } : { text: m.monitorUp(), tone: 'ok' };
    case 2:
      return { text: m.monitorRetrying(), tone: 'warn' };
    case 3:
      return { text: m.maintenance(), tone: 'sea' };
    default:
      // It may have been checked before Homeport was restarted.
      return { text: m.waitingForACheck(), tone: 'plain' };
  }
}

/** Returns the icon of a status. */
export function getStatusIcon({ tone }: MonitorStatusLabel, active: boolean): IconName {
  if (!active) return 'pause';
  return tone === 'ok' ? 'check' : tone === 'plain' || tone === 'sea' ? 'clock' : 'alert';
}

/** Returns the monitor types of the form, with their labels, in order. */
export const getMonitorTypes = () =>
  [
    ['http', m.typeHttp()],
    ['keyword', m.typeKeyword()],
    ['json-query', m.typeJson()],
    ['port', m.typePort()],
    ['ping', m.typePing()],
    ['docker', m.container()],
    ['push', m.typePush()],
    ['dns', m.typeDns()],
    ['smtp', m.typeSmtp()],
    ['websocket-upgrade', 'WebSocket'],
    ['postgres', 'PostgreSQL'],
    ['redis', 'Redis'],
    ['mqtt', m.typeMqtt()],
    ['ntp', m.typeNtp()],
    ['group', m.typeGroup()],
    ['manual', m.typeManual()],
  ] as const;

export function getTypeLabel(type: string): string {
  return getMonitorTypes().find(([kind]) => kind === type)?.[1] ?? type;
}

/** Formats the message of a check and explains known failures. */
export function formatCause({ msg, failure }: CheckMessage): string {
  const explanation = explainFailure({ msg, failure }, getServerPlatform());
  if (explanation !== undefined) return explanation;
  // Uptime Kuma writes the answer of a website that is up as `200 - OK`.
  const answer = /^(\d{3}) - ?(.*)$/.exec(msg);
  if (answer !== null) return m.itAnswered({ answer: [answer[1], answer[2]].filter(Boolean).join(' ') });
  return msg;
}

/** Formats a response time, such as `38 ms`, with a non-breaking space. */
export function formatPing(ping: number): string {
  return ping < 1 ? m.underOneMs() : m.pingMs({ ping: Math.round(ping) });
}

const formatHundredths = defineNumberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Formats a share as a percentage, such as 0.99954 as `99.95%`. Rounds down, so that only 1 becomes `100%`. */
export function formatPercent(share: number | null): string {
  if (share === null) return '';
  return m.percent({ percent: share === 1 ? formatNumber(100) : formatHundredths(Math.floor(share * 10_000) / 100) });
}

/** Formats a duration in ms, such as `2 h 5 min` or `4 h`. */
export function formatLength(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return m.lengthSeconds({ seconds: Math.max(1, Math.round(ms / 1000)) });
  if (minutes < 60) return m.lengthMinutes({ minutes });
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (hours < 48)
    return minutes % 60 === 0 ? m.lengthHours({ hours }) : m.lengthHoursMinutes({ hours, minutes: minutes % 60 });
  return hours % 24 === 0 ? m.lengthDays({ days }) : m.lengthDaysHours({ days, hours: hours % 24 });
}

/** Formats the creation time of a note; the API returns it in UTC without a time zone. */
export function formatNoteTime({ createdDate }: { readonly createdDate: string }, now: number): string {
  return formatMoment(Date.parse(`${createdDate.replace(' ', 'T')}Z`), now);
}
