import * as m from '#messages/sync';
import { defineDateFormat } from '../../../../../messages/format.ts';
import type { SyncTask } from '../../../../../services/contracts/sync/api.ts';

/** Frequency of a saved sync in its form. */
export type Frequency = 'never' | 'hour' | 'day' | 'week' | 'own';

export interface Schedule {
  readonly frequency: Frequency;
  /** Time of day, such as `03:00`. */
  readonly time: string;
  /** Day of the week as in cron: 0 is Sunday. */
  readonly weekday: string;
}

/** Parses a cron expression into the fields of the form. */
export function parseCron(cron: string | null): Schedule {
  const [time, weekday] = ['03:00', '1'];
  if (cron === null) return { frequency: 'never', time, weekday };
  if (cron === '0 * * * *') return { frequency: 'hour', time, weekday };
  const [, minute, hour, day] = /^(\d{1,2}) (\d{1,2}) \* \* (\*|[0-6])$/.exec(cron) ?? [];
  if (minute === undefined || hour === undefined || day === undefined) return { frequency: 'own', time, weekday };
  const clockTime = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return day === '*'
    ? { frequency: 'day', time: clockTime, weekday }
    : { frequency: 'week', time: clockTime, weekday: day };
}

const formatWeekday = defineDateFormat({ weekday: 'long', timeZone: 'UTC' });

/** Returns the name of a day of the week; 0 is Sunday. */
export function getWeekdayName(weekday: number): string {
  return formatWeekday(Date.UTC(2023, 0, 1 + weekday));
}

/** Returns the offset of a time zone to local time in minutes; undefined for an unknown zone. */
function getMinutesAhead(zone: string, now: number): number | undefined {
  try {
    const parts = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      hourCycle: 'h23',
    } as const;
    const readClock = (timeZone?: string): number => {
      const format = new Intl.DateTimeFormat('en', timeZone === undefined ? parts : { ...parts, timeZone });
      const fields = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
      return Date.UTC(fields['year'] ?? 0, (fields['month'] ?? 1) - 1, fields['day'], fields['hour'], fields['minute']);
    };
    return Math.round((readClock(zone) - readClock()) / 60_000);
  } catch {
    return undefined;
  }
}

/** Shifts a schedule by minutes, as for another time zone. */
function shiftSchedule({ time, weekday, frequency }: Schedule, minutesBehind: number): Schedule {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const totalMinutes = hour * 60 + minute - minutesBehind;
  const day = 24 * 60;
  const minuteOfDay = ((totalMinutes % day) + day) % day;
  const padTwo = (value: number): string => String(value).padStart(2, '0');
  return {
    frequency,
    time: `${padTwo(Math.floor(minuteOfDay / 60))}:${padTwo(minuteOfDay % 60)}`,
    weekday: String((Number(weekday) + Math.floor(totalMinutes / day) + 7) % 7),
  };
}

/**
 * Describes a schedule in local time: `Every Monday at 03:00`. If the sync uses another time zone,
 * its time is added: `Every day at 02:30, which is 03:30 in Europe/Berlin`. Empty without a schedule.
 */
export function formatSchedule({ cron, zone }: Pick<SyncTask, 'cron' | 'zone'>, now = Date.now()): string {
  const stored = parseCron(cron);
  const minutesAhead = cron === null || zone === '' ? 0 : getMinutesAhead(zone, now);
  if (minutesAhead === undefined || (stored.frequency === 'own' && minutesAhead !== 0))
    return m.inZone({ schedule: formatFrequency(stored, cron), zone });
  const local = shiftSchedule(stored, minutesAhead);
  if (minutesAhead === 0 || (stored.frequency !== 'day' && stored.frequency !== 'week'))
    return formatFrequency(stored, cron);
  const times = { schedule: formatFrequency(local, cron), time: stored.time, zone };
  return stored.frequency === 'day' || local.weekday === stored.weekday
    ? m.timeInZone(times)
    : m.dayAndTimeInZone({ ...times, day: getWeekdayName(Number(stored.weekday)) });
}

function formatFrequency({ frequency, time, weekday }: Schedule, cron: string | null): string {
  switch (frequency) {
    case 'never':
      return '';
    case 'hour':
      return m.everyHour();
    case 'day':
      return m.everyDayAtTime({ time });
    case 'week':
      return m.everyWeekdayAtTime({ day: getWeekdayName(Number(weekday)), time });
    case 'own':
      return m.byRule({ rule: cron ?? '' });
  }
}

/** Builds the cron expression of the form; null without a schedule. */
export function buildCron({ frequency, time, weekday }: Schedule): string | null {
  if (frequency === 'never') return null;
  if (frequency === 'hour') return '0 * * * *';
  const [hour = '3', minute = '0'] = time.split(':').map((part) => String(Number(part)));
  return `${minute} ${hour} * * ${frequency === 'week' ? weekday : '*'}`;
}
