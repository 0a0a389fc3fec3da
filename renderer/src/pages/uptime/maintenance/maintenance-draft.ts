import * as m from '#messages/uptime';
import { defineDateFormat, formatList } from '../../../../../messages/format.ts';
import type { Maintenance } from '../../../../../services/contracts/uptime/maintenance.ts';

/** Maintenance window in its form, with all inputs as text. */
export interface WindowDraft {
  title: string;
  description: string;
  strategy: Maintenance['strategy'];
  /** `2026-03-29T02:00` */
  from: string;
  until: string;
  /** `02:00` */
  start: string;
  end: string;
  intervalDay: string;
  weekdays: readonly number[];
  daysOfMonth: string;
  cron: string;
  durationMinutes: string;
  zone: string;
  monitors: readonly number[];
  statusPages: readonly number[];
  reminders: string;
  notifyStart: boolean;
  notifyEnd: boolean;
}

export const newWindow: WindowDraft = {
  title: '',
  description: '',
  strategy: 'single',
  from: '',
  until: '',
  start: '02:00',
  end: '03:00',
  intervalDay: '1',
  weekdays: [],
  daysOfMonth: '1',
  cron: '30 3 * * *',
  durationMinutes: '60',
  zone: '',
  monitors: [],
  statusPages: [],
  reminders: '24, 1',
  notifyStart: false,
  notifyEnd: false,
};

/** Returns the kinds of schedules, with their labels. */
export const getStrategyOptions = () =>
  [
    ['single', m.once()],
    ['recurring-interval', m.everyFewDays()],
    ['recurring-weekday', m.onDaysOfWeek()],
    ['recurring-day-of-month', m.onDaysOfMonth()],
    ['cron', m.byCronRule()],
    ['manual', m.untilEnded()],
  ] as const satisfies readonly (readonly [Maintenance['strategy'], string])[];

const formatWeekday = defineDateFormat({ weekday: 'long', timeZone: 'UTC' });

/** Returns the names of the days of the week, from Sunday. */
export function getWeekdayLabels(): readonly string[] {
  return Array.from({ length: 7 }, (_, day) => formatWeekday(Date.UTC(2023, 0, 1 + day)));
}

export function toWindowDraft(window: Maintenance): WindowDraft {
  const [from = '', until = ''] = window.dateRange.map((text) => text.replace(' ', 'T').slice(0, 16));
  const formatTimeOfDay = (index: number, fallback: string): string => {
    const time = window.timeRange[index];
    return time === undefined
      ? fallback
      : [time.hours, time.minutes].map((part) => String(part).padStart(2, '0')).join(':');
  };
  const { title, description, strategy, weekdays, cron, monitors, statusPages, notifyStart, notifyEnd } = window;
  return {
    title,
    description,
    strategy,
    from,
    until,
    weekdays,
    cron,
    monitors,
    statusPages,
    notifyStart,
    notifyEnd,
    start: formatTimeOfDay(0, newWindow.start),
    end: formatTimeOfDay(1, newWindow.end),
    intervalDay: String(window.intervalDay),
    daysOfMonth: window.daysOfMonth.map((day) => String(day).replace('lastDay', '-')).join(', '),
    durationMinutes: String(window.durationMinutes),
    zone: window.timezoneOption === 'SAME_AS_SERVER' ? '' : window.timezoneOption,
    reminders: window.reminders.map((seconds) => String(Math.round(seconds / 36) / 100)).join(', '),
  };
}

/** Converts a draft to API fields. */
export function toWindowFields(draft: WindowDraft) {
  const { title, description, strategy, cron, notifyStart, notifyEnd } = draft;
  const splitWords = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
  const parseTime = (text: string) => {
    const [hours = 0, minutes = 0] = text.split(':').map(Number);
    return { hours, minutes, seconds: 0 };
  };
  const parseDay = (word: string) =>
    /^-[1-4]$/.test(word)
      ? (`lastDay${word.slice(1)}` as 'lastDay1' | 'lastDay2' | 'lastDay3' | 'lastDay4')
      : Number(word);
  return {
    title,
    description,
    strategy,
    cron,
    notifyStart,
    notifyEnd,
    dateRange: strategy === 'manual' ? [] : [draft.from, draft.until].filter((text) => text !== ''),
    timeRange: [parseTime(draft.start), parseTime(draft.end)],
    intervalDay: Number(draft.intervalDay),
    weekdays: [...draft.weekdays],
    daysOfMonth: splitWords(draft.daysOfMonth).map(parseDay),
    durationMinutes: Number(draft.durationMinutes),
    timezoneOption: draft.zone.trim() === '' ? 'SAME_AS_SERVER' : draft.zone.trim(),
    monitors: [...draft.monitors],
    statusPages: [...draft.statusPages],
    reminders: splitWords(draft.reminders).map((hours) => Number(hours) * 3600),
  };
}

/** Formats the schedule of a window, such as `Every Sunday and Monday, 02:00 to 03:00`. */
export function formatSchedule(window: Maintenance): string {
  const { start, end } = toWindowDraft(window);
  const times = m.startToEnd({ start, end });
  switch (window.strategy) {
    case 'recurring-interval':
      return m.everyDays({ count: window.intervalDay, times });
    case 'recurring-weekday': {
      const labels = getWeekdayLabels();
      return m.everyWeekday({ days: formatList(window.weekdays.flatMap((day) => labels[day] ?? [])), times });
    }
    case 'recurring-day-of-month':
      return m.everyDayOfMonth({ days: toWindowDraft(window).daysOfMonth, times });
    case 'cron':
      return m.cronSchedule({ cron: window.cron, minutes: window.durationMinutes });
    default:
      return getStrategyOptions().find(([strategy]) => strategy === window.strategy)?.[1] ?? '';
  }
}
