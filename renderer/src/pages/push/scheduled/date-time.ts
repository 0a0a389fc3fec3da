import * as m from '#messages/push-compose';
import { defineDateFormat } from '../../../../../messages/format.ts';
const timeFormat = defineDateFormat({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const weekdayTimeFormat = defineDateFormat({
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const dateTimeFormat = defineDateFormat({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const fullFormat = defineDateFormat({ dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
const weekMs = 6 * 86_400_000;

/** Formats a future time in ms: `in 4 min`, `Today 20:16, in 9 h`, `Tue 14:05`, `Tue, Mar 3, 14:05`. */
export function formatFuture(time: number, now: number): string {
  const remainingMs = time - now;
  if (remainingMs < 60_000) return m.inAMoment();
  if (remainingMs < 3_600_000) return m.inMinutes({ minutes: String(Math.round(remainingMs / 60_000)) });
  if (new Date(time).toDateString() === new Date(now).toDateString())
    return m.todayInHours({ time: timeFormat(time), hours: toHours(remainingMs) });
  if (remainingMs < 24 * 3_600_000)
    return m.timeInHours({ time: weekdayTimeFormat(time), hours: toHours(remainingMs) });
  if (remainingMs < weekMs) return weekdayTimeFormat(time);
  return new Date(time).getFullYear() === new Date(now).getFullYear() ? dateTimeFormat(time) : fullFormat(time);
}

function toHours(ms: number): string {
  return String(Math.round(ms / 3_600_000));
}

/** Formats a time for a date and time field in local time; empty for null. */
export function toDateTimeField(time: number | null): string {
  if (time === null) return '';
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Parses a date and time field to ms since the epoch; null for an empty field. */
export function parseDateTimeField(text: string): number | null {
  const time = text === '' ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(time) ? null : time;
}

/** Returns the time zone of this browser. */
export function getBrowserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
