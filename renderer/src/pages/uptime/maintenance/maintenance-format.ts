import * as m from '#messages/uptime';
import { getLocale, remember } from '../../../../../messages/language.ts';
import type { Maintenance } from '../../../../../services/contracts/uptime/maintenance.ts';
import { compareNames } from '../../../../../services/contracts/compare-names.ts';
import type { IconName } from '../../../icons/icons.ts';
import { formatSchedule } from './maintenance-draft.ts';

const currentYearOptions: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};

/** Returns the formatter for the current locale. */
function getFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const locale = getLocale();
  return remember('date', [locale, options], () => new Intl.DateTimeFormat(locale, options));
}

/**
 * Formats the schedule and the next slot of a window, such as `Every Monday, 03:00 to 04:00 · next Mon, Nov 30`. A window
 * that occurs once has its time only. The current year is omitted.
 */
export function formatWindow(window: Maintenance, now: number): string {
  const slot = formatSlot(window, now);
  const rule = window.strategy === 'single' && slot !== '' ? '' : formatSchedule(window);
  return [rule, slot].filter((part) => part !== '').join(' · ');
}

/** Label, icon and tone of the status of a window. */
export interface WindowStatus {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: 'plain' | 'sea';
}

export function getWindowStatus({ status, upcoming: [slot] }: Maintenance, now: number): WindowStatus {
  switch (status) {
    case 'under-maintenance':
      return { text: m.runsNow(), icon: 'play', tone: 'sea' };
    case 'inactive':
      return { text: m.windowPaused(), icon: 'pause', tone: 'plain' };
    case 'ended':
      return { text: m.over(), icon: 'done', tone: 'plain' };
    case 'scheduled':
      return {
        text: slot === undefined ? m.planned() : m.starts({ when: formatTimeUntil(Date.parse(slot.startDate), now) }),
        icon: 'clock',
        tone: 'plain',
      };
    case 'unknown':
      return { text: m.unknownStatus(), icon: 'clock', tone: 'plain' };
  }
}

const ranks: Readonly<Record<Maintenance['status'], number>> = {
  'under-maintenance': 0,
  scheduled: 1,
  unknown: 2,
  inactive: 3,
  ended: 4,
};

/** Compares windows: running ones first, then by start; paused and ended ones come last. */
export function compareStart(one: Maintenance, other: Maintenance): number {
  return (
    ranks[one.status] - ranks[other.status] || getStart(one) - getStart(other) || compareNames(one.title, other.title)
  );
}

function getStart({ upcoming: [slot] }: Maintenance): number {
  return slot === undefined ? Number.MAX_VALUE : Date.parse(slot.startDate);
}

/** Formats the time until a start, such as `in 40 min`, `tomorrow` or `in 3 days`, by calendar days. */
function formatTimeUntil(time: number, now: number): string {
  const minutes = Math.max(1, Math.round((time - now) / 60_000));
  if (minutes < 60) return m.inMinutes({ count: minutes });
  const hours = Math.round(minutes / 60);
  if (hours < 24) return m.inHours({ count: hours });
  const days = Math.round((new Date(time).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0)) / 86_400_000);
  return days <= 1 ? m.tomorrow() : m.inDays({ count: days });
}

/** Formats the current or next slot of a window, such as `next Mon, Nov 30` or `until Mon, Nov 30, 12:00`. */
export function formatSlot({ status, strategy, timezone, upcoming: [slot] }: Maintenance, now: number): string {
  if (slot === undefined) return '';
  const start = new Date(slot.startDate);
  const end = slot.endDate === null ? undefined : new Date(slot.endDate);
  const isThisYear = [start, end ?? start].every((time) => time.getFullYear() === new Date(now).getFullYear());
  const format = getFormat({ ...currentYearOptions, ...(isThisYear ? {} : { year: 'numeric' }) });
  if (status === 'under-maintenance')
    return end === undefined ? m.since({ time: format.format(start) }) : m.untilTime({ time: format.format(end) });
  if (end === undefined) return m.fromTime({ time: format.format(start) });
  if (strategy === 'single') return formatTimeRange(format, start, end);
  if (strategy === 'cron') return m.nextTime({ time: formatTimeRange(format, start, end) });
  // The schedule already has the times, in the time zone of the window.
  const day = getFormat({
    timeZone: timezone,
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
  return m.nextTime({ time: day.format(start) });
}

/** Formats a range such as `Mon, Nov 30, 10:00 to 12:00`, in the style of the schedule. */
function formatTimeRange(format: Intl.DateTimeFormat, start: Date, end: Date): string {
  const range = format.formatRange(start, end);
  const [from, to] = range.split(/\s*\u2013\s*/);
  return from === undefined || to === undefined ? range : m.startToEnd({ start: from, end: to });
}
