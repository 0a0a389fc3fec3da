/** Rules with their own form; any other is written as a cron expression. */
export const intervals = [
  ['daily', 'Every day'],
  ['weekdays', 'Monday to Friday'],
  ['weekly', 'Every week'],
  ['monthly', 'First of the month'],
  ['hours', 'Every few hours'],
  ['own', 'Another rule (cron)'],
] as const;
export type Interval = (typeof intervals)[number][0];

export const weekdays = [
  ['1', 'Monday'],
  ['2', 'Tuesday'],
  ['3', 'Wednesday'],
  ['4', 'Thursday'],
  ['5', 'Friday'],
  ['6', 'Saturday'],
  ['0', 'Sunday'],
] as const;
export type Weekday = (typeof weekdays)[number][0];

export const hourSteps = [
  ['1', 'Every hour'],
  ['2', 'Every 2 hours'],
  ['3', 'Every 3 hours'],
  ['4', 'Every 4 hours'],
  ['6', 'Every 6 hours'],
  ['8', 'Every 8 hours'],
  ['12', 'Every 12 hours'],
] as const;
export type HourStep = (typeof hourSteps)[number][0];

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
    const weekdayKey = weekdays.find(([key]) => key === weekday)?.[0];
    if (weekdayKey !== undefined) return { ...timed, rhythm: 'weekly', weekday: weekdayKey };
  }
  const hours = rule === '0 * * * *' ? '1' : /^0 \*\/(\d+) \* \* \*$/.exec(rule)?.[1];
  const step = hourSteps.find(([key]) => key === hours)?.[0];
  return step === undefined ? { ...own, rhythm: 'own' } : { ...own, rhythm: 'hours', step };
}
