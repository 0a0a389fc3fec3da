import * as m from '#messages/parts';
import { defineDateFormat, defineNumberFormat } from '../../../../messages/format.ts';

const number = defineNumberFormat({ maximumFractionDigits: 1 });
const day = defineDateFormat({ weekday: 'short', day: 'numeric', month: 'short' });
const otherYearDay = defineDateFormat({ day: 'numeric', month: 'short', year: 'numeric' });
const hour = defineDateFormat({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const fullDay = defineDateFormat({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const sameYearDay = defineDateFormat({ weekday: 'long', day: 'numeric', month: 'long' });
const fullMinute = defineDateFormat({ dateStyle: 'full', timeStyle: 'short', hourCycle: 'h23' });
const full = defineDateFormat({ dateStyle: 'full', timeStyle: 'medium', hourCycle: 'h23' });

const units = [m.sizeBytes, m.sizeKilobytes, m.sizeMegabytes, m.sizeGigabytes, m.sizeTerabytes] as const;

/** Formats bytes in steps of 1000, as file managers do: `1.4 GB`. */
export function formatBytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return (units[unit] ?? m.sizeBytes)({ value: unit === 0 ? String(Math.round(value)) : number(value) });
}

/** Formats a limit in the unit of its setting: `15 MiB`, or as a size when it is not a whole number of MiB. */
export function formatByteLimit(count: number): string {
  const mebibyte = 2 ** 20;
  return count >= mebibyte && count % mebibyte === 0
    ? m.sizeMebibytes({ value: String(count / mebibyte) })
    : formatBytes(count);
}

/** Formats seconds as a clock: `0:07`, `12:30`, `1:02:03`. */
export function formatDuration(seconds: number): string {
  const totalSeconds = Math.max(0, Math.round(seconds));
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(totalSeconds / 3600), Math.floor((totalSeconds % 3600) / 60)];
  return hours > 0
    ? `${String(hours)}:${padTwo(minutes)}:${padTwo(totalSeconds % 60)}`
    : `${String(minutes)}:${padTwo(totalSeconds % 60)}`;
}

/** Formats a day in a short form: `Tue, Mar 3`, or `Mar 3, 2024` for another year. */
function formatShortDay(time: number, now: number): string {
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? day : otherYearDay)(time);
}

/**
 * Units of time from the smallest, each with the format of a duration, its length in ms, and the maximum duration in
 * ms it is used for.
 */
const timeUnits = [
  [m.milliseconds, m.durationMilliseconds, 1, 999.5],
  [m.seconds, m.durationSeconds, 1000, 59_500],
  [m.minutes, m.durationMinutes, 60_000, 59.5 * 60_000],
  [m.hours, m.durationHours, 3_600_000, 47.5 * 3_600_000],
  [m.days, m.durationDays, 86_400_000, Infinity],
] as const;

/** Returns the unit that shows a duration in few digits, and its length in ms. */
export function getTimeUnit(milliseconds: number): { readonly unit: string; readonly length: number } {
  const [formatUnit, , length] = findTimeUnit(milliseconds);
  return { unit: formatUnit(), length };
}

function findTimeUnit(milliseconds: number): (typeof timeUnits)[number] {
  return timeUnits.find(([, , , maxDuration]) => milliseconds < maxDuration) ?? timeUnits[0];
}

/** Formats a duration in ms: `25 ms`, `1.4 s`, `12 min`, `4 h`. */
export function formatElapsed(milliseconds: number): string {
  const [, formatLength, length] = findTimeUnit(milliseconds);
  const count = milliseconds / length;
  return formatLength({ count: length > 1 && count < 10 ? Math.round(count * 10) / 10 : Math.round(count) });
}

/** True when a time is on the day before `now`. */
export function isYesterday(time: number, now: number): boolean {
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  return new Date(time).toDateString() === yesterday.toDateString();
}

/**
 * Formats a past time in a short form: `now`, `4 min ago`, `14:05`, `yesterday, 22:30` for late hours, `yesterday`,
 * `Tue, Mar 3`, `Mar 3, 2024`.
 */
export function formatAgo(time: number, now: number): string {
  const seconds = (now - time) / 1000;
  if (seconds < 60) return m.now();
  if (seconds < 3600) return m.minutesAgo({ minutes: Math.floor(seconds / 60) });
  if (new Date(time).toDateString() === new Date(now).toDateString()) return hour(time);
  // Late hours are still shown as a time after midnight.
  if (isYesterday(time, now)) return seconds < 12 * 3600 ? m.yesterdayAt({ time: hour(time) }) : m.yesterday();
  return formatShortDay(time, now);
}

/** Formats a past time below the heading of its day: `now`, `4 min ago`, `14:05`. */
export function formatAgoInDay(time: number, now: number): string {
  return now - time < 3_600_000 ? formatAgo(time, now) : hour(time);
}

/** Formats a day: `Tuesday, March 3, 2026`. */
export function formatDay(time: number): string {
  return fullDay(time);
}

/** Formats the heading of a day: `Today`, `Yesterday`, `Tuesday, March 3`, with the year if it is another one. */
export function formatDayHeading(time: number, now: number): string {
  const date = new Date(time);
  if (date.toDateString() === new Date(now).toDateString()) return m.todayHeading();
  if (isYesterday(time, now)) return m.yesterdayHeading();
  return date.getFullYear() === new Date(now).getFullYear() ? sameYearDay(time) : formatDay(time);
}

/** Formats a past time in a list: `14:05` for today, `Tue, Mar 3, 14:05` for another day. */
export function formatMoment(time: number, now: number): string {
  const clock = hour(time);
  return new Date(time).toDateString() === new Date(now).toDateString()
    ? clock
    : m.dayAndTime({ day: formatShortDay(time, now), time: clock });
}

/** Formats the day and the time: `Friday, November 27, 2026 at 13:09`. */
export function formatDayAndTime(time: number): string {
  return fullMinute(time);
}

/** Formats the complete date and time, for tooltips and details. */
export function formatFullTime(time: number): string {
  return full(time);
}
