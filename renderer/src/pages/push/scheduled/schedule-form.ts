import * as m from '#messages/push-compose';
import { defineDateFormat } from '../../../../../messages/format.ts';

/** Rules with their own form; any other is written as a cron expression. */
const intervals = [
  ['daily', m.everyDay],
  ['weekdays', m.mondayToFriday],
  ['weekly', m.everyWeek],
  ['monthly', m.firstOfTheMonth],
  ['hours', m.everyFewHours],
  ['own', m.anotherRule],
] as const;
export type Interval = (typeof intervals)[number][0];

const weekdays = ['1', '2', '3', '4', '5', '6', '0'] as const;
export type Weekday = (typeof weekdays)[number];

const hourSteps = ['1', '2', '3', '4', '6', '8', '12'] as const;
export type HourStep = (typeof hourSteps)[number];

const formatWeekday = defineDateFormat({ weekday: 'long' });
/** A Sunday, to name the other days of the week. */
const sunday = new Date(2026, 0, 4);

/** Returns the rules with their names. */
export function getIntervalOptions(): readonly (readonly [Interval, string])[] {
  return intervals.map(([interval, getLabel]) => [interval, getLabel()]);
}

/** Returns the days of the week with their names, Monday first. */
export function getWeekdayOptions(): readonly (readonly [Weekday, string])[] {
  return weekdays.map((day) => [
    day,
    formatWeekday(new Date(sunday.getFullYear(), sunday.getMonth(), sunday.getDate() + Number(day))),
  ]);
}

/** Returns the numbers of hours between two runs with their names. */
export function getHourStepOptions(): readonly (readonly [HourStep, string])[] {
  return hourSteps.map((step) => [step, m.everyHours({ hours: Number(step) })]);
}

/** A rule in the form. */
export interface ScheduleFormState {
  readonly rhythm: Interval;
  /** Local time such as `08:00`. */
  readonly time: string;
  readonly weekday: Weekday;
  readonly step: HourStep;
  /** The cron expression of another rule. */
  readonly own: string;
}

export const defaultSchedule: ScheduleFormState = {
  rhythm: 'daily',
  time: '08:00',
  weekday: '1',
  step: '6',
  own: '0 8 * * *',
};

/** Returns the cron expression of the form. */
export function toCronRule({ rhythm, time, weekday, step, own }: ScheduleFormState): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const minuteAndHour = `${String(minute)} ${String(hour)}`;
  switch (rhythm) {
    case 'daily':
      return `${minuteAndHour} * * *`;
    case 'weekdays':
      return `${minuteAndHour} * * 1-5`;
    case 'weekly':
      return `${minuteAndHour} * * ${weekday}`;
    case 'monthly':
      return `${minuteAndHour} 1 * *`;
    case 'hours':
      return step === '1' ? '0 * * * *' : `0 */${step} * * *`;
    case 'own':
      return own.trim();
  }
}

/** Parses a cron expression for the form. */
export function parseCronRule(rule: string): ScheduleFormState {
  const own = { ...defaultSchedule, own: rule };
  const [, minute, hour, day, weekday] = /^(\d{1,2}) (\d{1,2}) (\*|1) \* (\*|1-5|[0-6])$/.exec(rule) ?? [];
  if (minute !== undefined && hour !== undefined) {
    const timed = { ...own, time: `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}` };
    if (day === '1') return { ...timed, rhythm: weekday === '*' ? 'monthly' : 'own' };
    if (weekday === '*') return { ...timed, rhythm: 'daily' };
    if (weekday === '1-5') return { ...timed, rhythm: 'weekdays' };
    const weekdayKey = weekdays.find((day) => day === weekday);
    if (weekdayKey !== undefined) return { ...timed, rhythm: 'weekly', weekday: weekdayKey };
  }
  const hours = rule === '0 * * * *' ? '1' : /^0 \*\/(\d+) \* \* \*$/.exec(rule)?.[1];
  const step = hourSteps.find((each) => each === hours);
  return step === undefined ? { ...own, rhythm: 'own' } : { ...own, rhythm: 'hours', step };
}
