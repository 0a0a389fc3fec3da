import * as m from '#messages/push-texts';
import { defineDateFormat, formatList } from '../../../../messages/format.ts';
import { isRange, listValues, parseStep, weekdayNames } from './field-values.ts';

const formatWeekdayName = defineDateFormat({ weekday: 'long', timeZone: 'UTC' });

/** Fields of a rule that select days. */
interface DayFields {
  readonly day: string;
  readonly weekday: string;
}

/** Describes days, with or without times. Each case is a separate message, because word order differs between languages. */
interface DayDescription {
  readonly text: () => string;
  readonly at: (times: string) => string;
}

/** Description of the days; `every` for all days. */
export type DescribedDays = { readonly every: true } | { readonly every: false; readonly days: string };

/** Describes the days of a rule. Returns undefined for days that cannot be described. */
export function describeDays(fields: DayFields): DescribedDays | undefined {
  const description = findDescription(fields);
  if (description === null) return { every: true };
  return description && { every: false, days: description.text() };
}

/** Describes the days of a rule and its times. Returns undefined for days that cannot be described. */
export function describeDaysAt(fields: DayFields, times: string): string | undefined {
  const description = findDescription(fields);
  return description === null ? m.everyDayAt({ times }) : description?.at(times);
}

/** Returns the description of the days; null for every day, undefined for days that cannot be described. */
function findDescription({ day, weekday }: DayFields): DayDescription | null | undefined {
  const dayOfMonth = describeDayOfMonth(day);
  const dayOfWeek = describeWeekday(weekday);
  if (dayOfMonth === undefined || dayOfWeek === undefined) return undefined;
  if (dayOfMonth === null) return dayOfWeek;
  if (dayOfWeek === null) return dayOfMonth;
  // When both fields are set, cron requires only one of them to match.
  const describeBoth = () => ({ first: dayOfMonth.text(), second: dayOfWeek.text() });
  return {
    text: () => m.onEitherDay(describeBoth()),
    at: (times) => m.onEitherDayAt({ ...describeBoth(), times }),
  };
}

function describeDayOfMonth(day: string): DayDescription | null | undefined {
  if (day === 'L') return { text: m.onLastDay, at: (times) => m.onLastDayAt({ times }) };
  if (day === 'LW') return { text: m.onLastWorkingDay, at: (times) => m.onLastWorkingDayAt({ times }) };
  if (/^\d+W$/.test(day)) {
    const value = Number.parseInt(day, 10);
    return {
      text: () => m.onWorkingDayNear({ day: value }),
      at: (times) => m.onWorkingDayNearAt({ day: value, times }),
    };
  }
  const days = listValues(day, { min: 1, max: 31 });
  if (days === undefined || days.length === 31) return days && null;
  const count = parseStep(day);
  if (count !== undefined) {
    return { text: () => m.onEveryNthDay({ count }), at: (times) => m.onEveryNthDayAt({ count, times }) };
  }
  const names = (): readonly string[] => days.map((value) => m.dayOfMonth({ day: value }));
  if (isRange(days)) {
    const getEnds = () => ({ from: names()[0] ?? '', to: names().at(-1) ?? '' });
    return { text: () => m.onDayRange(getEnds()), at: (times) => m.onDayRangeAt({ ...getEnds(), times }) };
  }
  const getDays = () => ({ count: days.length, days: formatList(names()) });
  return { text: () => m.onDaysOfMonth(getDays()), at: (times) => m.onDaysOfMonthAt({ ...getDays(), times }) };
}

function describeWeekday(field: string): DayDescription | null | undefined {
  const [, name = '', occurrence] = /^(\w+)#(\d|L)$/.exec(field) ?? [];
  if (occurrence !== undefined) return describeOccurrence(name, occurrence);
  const weekdays = listWeekdays(field);
  if (weekdays === undefined || weekdays.length === 7) return weekdays && null;
  const names = (): readonly string[] => weekdays.map(formatWeekday);
  if (isRange(weekdays)) {
    const getEnds = () => ({ from: names()[0] ?? '', to: names().at(-1) ?? '' });
    return { text: () => m.onWeekdayRange(getEnds()), at: (times) => m.onWeekdayRangeAt({ ...getEnds(), times }) };
  }
  const getWeekdays = () => ({ weekdays: formatList(names()) });
  return { text: () => m.onWeekdays(getWeekdays()), at: (times) => m.onWeekdaysAt({ ...getWeekdays(), times }) };
}

/** Describes the n-th or last of a weekday in each month. */
function describeOccurrence(name: string, occurrence: string): DayDescription | undefined {
  const [value] = listWeekdays(name) ?? [];
  if (value === undefined) return undefined;
  const getWeekday = () => ({ weekday: formatWeekday(value) });
  if (occurrence === 'L') {
    return { text: () => m.onLastWeekday(getWeekday()), at: (times) => m.onLastWeekdayAt({ ...getWeekday(), times }) };
  }
  const getValues = () => ({ count: Number(occurrence), ...getWeekday() });
  return { text: () => m.onNthWeekday(getValues()), at: (times) => m.onNthWeekdayAt({ ...getValues(), times }) };
}

/** Lists the weekdays of a field; Sunday is the last day of a range that ends with it, and else the first one. */
function listWeekdays(field: string): readonly number[] | undefined {
  const max = field.includes('*') ? 6 : 7;
  const values = listValues(field.replace(/-(?:SUN|0)\b/g, '-7'), { min: 0, max, names: weekdayNames });
  return values?.includes(0) === true ? values.filter((value) => value !== 7) : values;
}

function formatWeekday(value: number): string {
  // The first day of 2023 is a Sunday.
  return formatWeekdayName(Date.UTC(2023, 0, 1 + value));
}
