import type { Maintenance } from '../../../../services/contracts/uptime/maintenance.ts';
import type { IconName } from '../../parts/text/icons.ts';
import { planWords } from './maintenance-draft.ts';

const thisYear: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};
const near = new Intl.DateTimeFormat('en', thisYear);
const far = new Intl.DateTimeFormat('en', { ...thisYear, year: 'numeric' });

/**
 * By which rule a window comes, and when next: `Every Monday, 03:00 to 04:00 · next Mon, Nov 30`; of one that comes once
 * only when. Today's year goes without saying.
 */
export function windowWords(window: Maintenance, now: number): string {
  const slot = slotWords(window, now);
  const rule = window.strategy === 'single' && slot !== '' ? '' : planWords(window);
  return [rule, slot].filter((part) => part !== '').join(' · ');
}

/** How a window stands now, by a word, a shape and a tone. */
export interface WindowStanding {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: 'plain' | 'sea';
}

export function windowStanding({ status, upcoming: [slot] }: Maintenance, now: number): WindowStanding {
  switch (status) {
    case 'under-maintenance':
      return { text: 'Runs now', icon: 'play', tone: 'sea' };
    case 'inactive':
      return { text: 'Paused', icon: 'pause', tone: 'plain' };
    case 'ended':
      return { text: 'Over', icon: 'done', tone: 'plain' };
    case 'scheduled':
      return {
        text: slot === undefined ? 'Planned' : `Starts ${untilWords(Date.parse(slot.startDate), now)}`,
        icon: 'clock',
        tone: 'plain',
      };
    case 'unknown':
      return { text: 'Not known', icon: 'clock', tone: 'plain' };
  }
}

const ranks: Readonly<Record<Maintenance['status'], number>> = {
  'under-maintenance': 0,
  scheduled: 1,
  unknown: 2,
  inactive: 3,
  ended: 4,
};

/** What runs, then what comes, the next first; what is paused or over last. */
export function bySoonest(one: Maintenance, other: Maintenance): number {
  return (
    ranks[one.status] - ranks[other.status] || startOf(one) - startOf(other) || one.title.localeCompare(other.title)
  );
}

function startOf({ upcoming: [slot] }: Maintenance): number {
  return slot === undefined ? Number.MAX_VALUE : Date.parse(slot.startDate);
}

/** `in 40 min`, `in 5 h`, `tomorrow`, `in 3 days`: days as the reader's calendar has them. */
function untilWords(time: number, now: number): string {
  const minutes = Math.max(1, Math.round((time - now) / 60_000));
  if (minutes < 60) return `in ${String(minutes)} min`;
  const hours = Math.round(minutes / 60);
  if (hours < 24) return `in ${String(hours)} h`;
  const days = Math.round((new Date(time).setHours(0, 0, 0, 0) - new Date(now).setHours(0, 0, 0, 0)) / 86_400_000);
  return days <= 1 ? 'tomorrow' : `in ${String(days)} days`;
}

function slotWords({ status, strategy, timezone, upcoming: [slot] }: Maintenance, now: number): string {
  if (slot === undefined) return '';
  const start = new Date(slot.startDate);
  const end = slot.endDate === null ? undefined : new Date(slot.endDate);
  const isThisYear = [start, end ?? start].every((time) => time.getFullYear() === new Date(now).getFullYear());
  const format = isThisYear ? near : far;
  if (status === 'under-maintenance')
    return end === undefined ? `since ${format.format(start)}` : `until ${format.format(end)}`;
  if (end === undefined) return `from ${format.format(start)}`;
  if (strategy === 'single') return rangeWords(format, start, end);
  if (strategy === 'cron') return `next ${rangeWords(format, start, end)}`;
  // The rule names its times already, by the clocks of its own zone.
  const day = new Intl.DateTimeFormat('en', {
    timeZone: timezone,
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    ...(isThisYear ? {} : { year: 'numeric' }),
  });
  return `next ${day.format(start)}`;
}

/** `Mon, Nov 30, 10:00 to 12:00`: in words like the rules beside it. */
function rangeWords(format: Intl.DateTimeFormat, start: Date, end: Date): string {
  return format.formatRange(start, end).replace(/\s*\u2013\s*/, ' to ');
}
