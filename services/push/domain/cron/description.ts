import * as m from '#messages/push-texts';
import { capitalize, defineDateFormat, formatList } from '../../../../messages/format.ts';
import { findOwn } from '../../../contracts/find-own.ts';
import { describeDays, describeDaysAt } from './day-description.ts';
import { isRange, listValues, monthNames, parseStep } from './field-values.ts';

const formatMonthName = defineDateFormat({ month: 'long', timeZone: 'UTC' });
const shortForms: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

/** Maximum number of times of a day that are listed one by one. */
const maxTimes = 8;

/**
 * Describes a valid rule in the current language: `30 8 * * 1-5` is "Monday to Friday at 08:30". Steps are listed as the
 * values that they select, because "every 3rd of all months" is hard to read. A rule without a description is shown.
 */
export function describeRecurrence(rule: string): string {
  const fields = (findOwn(shortForms, rule.toLowerCase()) ?? rule)
    .trim()
    .toUpperCase()
    .replaceAll('?', '*')
    .split(/\s+/);
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = fields;
  const schedule = describeSchedule(minute, hour, { day, weekday });
  const description = schedule === undefined ? undefined : addMonths(schedule, month);
  return capitalize(description ?? m.scheduleByRule({ rule }));
}

/** Adds the months in which the schedule applies. Returns undefined for months that cannot be listed. */
function addMonths(schedule: string, month: string): string | undefined {
  const values = listValues(month, { min: 1, max: 12, names: monthNames });
  if (values === undefined || values.length === 12) return values && schedule;
  const names = values.map((value) => formatMonthName(Date.UTC(2023, value - 1, 1)));
  return isRange(values)
    ? m.scheduleInMonthRange({ schedule, from: names[0] ?? '', to: names.at(-1) ?? '' })
    : m.scheduleInMonths({ schedule, months: formatList(names) });
}

/** Describes the times and the days. Returns undefined for fields that cannot be listed. */
function describeSchedule(
  minute: string,
  hour: string,
  days: { readonly day: string; readonly weekday: string },
): string | undefined {
  const minutes = listValues(minute, { min: 0, max: 59 });
  const hours = listValues(hour, { min: 0, max: 23 });
  if (minutes === undefined || hours === undefined) return undefined;
  const step = minute === '*' ? 1 : parseStep(minute);
  const hourStep = hours.length === 24 ? 1 : parseStep(hour);
  const areTimes = step === undefined && hourStep === undefined;
  if (areTimes && minutes.length * hours.length <= maxTimes) {
    const times = hours.flatMap((each) => minutes.map((part) => formatTime(each, part)));
    return describeDaysAt(days, formatList(times));
  }
  const interval =
    step === undefined ? describeHours(minutes, hours, hourStep) : describeMinutes(step, hours, hourStep);
  const description = describeDays(days);
  return description && (description.every ? interval : m.intervalOnDays({ interval, days: description.days }));
}

/** Describes runs at an interval of minutes. */
function describeMinutes(count: number, hours: readonly number[], step: number | undefined): string {
  if (step === 1) return m.everyMinutes({ count });
  if (step !== undefined) return m.everyMinutesInNthHour({ count, hours: step });
  const [from = 0, to = from] = [hours[0], hours.at(-1)];
  if (isConsecutive(hours)) return m.everyMinutesBetween({ count, from: formatTime(from, 0), to: formatTime(to, 59) });
  return m.everyMinutesInHours({ count, hours: formatList(hours.map((each) => formatTime(each, 0))) });
}

/** Describes runs at certain minutes of hours. */
function describeHours(minutes: readonly number[], hours: readonly number[], step: number | undefined): string {
  const [minute = 0] = minutes;
  const values = {
    minutes: isRange(minutes) ? `${String(minute)}–${String(minutes.at(-1))}` : formatList(minutes.map(String)),
  };
  if (step !== undefined) {
    if (minutes.length === 1 && minute === 0) return m.everyHours({ count: step });
    return m.everyHoursAtMinutes({ count: step, minuteCount: minutes.length, ...values });
  }
  const [from = 0, to = from] = [hours[0], hours.at(-1)];
  if (!isConsecutive(hours))
    return m.hoursAtMinutes({
      count: minutes.length,
      hours: formatList(hours.map((each) => formatTime(each, 0))),
      ...values,
    });
  if (minutes.length === 1) return m.everyHourBetween({ from: formatTime(from, minute), to: formatTime(to, minute) });
  return m.everyHourAtMinutesBetween({
    count: minutes.length,
    from: formatTime(from, 0),
    to: formatTime(to, 59),
    ...values,
  });
}

function isConsecutive(values: readonly number[]): boolean {
  return values.every((value, index) => value === (values[0] ?? 0) + index);
}

function formatTime(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
