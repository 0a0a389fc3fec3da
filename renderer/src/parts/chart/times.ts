import * as m from '#messages/parts';
import { defineDateFormat } from '../../../../messages/format.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** Distances of the labels below a line chart, in seconds. */
const distances = [
  ...[1, 2, 5, 10, 15, 30],
  ...[minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 4 * hour, 6 * hour, 12 * hour],
];
/** Longer time spans, in seconds, are labelled by day. */
const maxLength = 2 * day;

/**
 * Returns round times within a time span in seconds, such as 03:00 and 06:00, at most `maxCount`; undefined when the
 * span is too long for times of day.
 */
export function getRoundTimes(first: number, last: number, maxCount: number): readonly number[] | undefined {
  const length = last - first;
  if (length <= 0 || length > maxLength) return undefined;
  const distance = distances.find((each) => length / each <= maxCount) ?? day;
  const offset = new Date(first * 1000).getTimezoneOffset() * minute;
  const start = Math.ceil((first - offset) / distance) * distance + offset;
  return Array.from({ length: Math.floor((last - start) / distance) + 1 }, (_, index) => start + index * distance);
}

/** Granularity of the values of a chart. */
export type Moment = 'Month' | 'Day' | 'Hour' | 'Time';

const monthFormat = defineDateFormat({ month: 'long', year: 'numeric' });
const dayFormat = defineDateFormat({ weekday: 'short', day: 'numeric', month: 'short' });
const dateFormat = defineDateFormat({ day: 'numeric', month: 'short' });
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const minuteFormat = defineDateFormat(clock);
const secondFormat = defineDateFormat({ ...clock, second: '2-digit' });

/**
 * Returns the format for times of a chart: `Thu, Nov 26` or `Thu, Nov 26, 09:00`, with seconds when there are several
 * values in a minute.
 */
export function getTimeFormat(moment: Moment, points: readonly { readonly at: number }[]): (index: number) => string {
  if (moment === 'Month') return monthFormat;
  if (moment === 'Day') return dayFormat;
  const length = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  const time = length / Math.max(1, points.length - 1) < minute * 1000 ? secondFormat : minuteFormat;
  return (index) => m.dayAndTime({ day: dayFormat(index), time: time(index) });
}

/** Labels of time spans below this length, in ms, can be less than a minute apart. */
const maxSecondsLength = 10 * minute * 1000;

/**
 * Returns the format of the labels below a chart: dates, times of day up to two days, and times with seconds for a few
 * minutes, so that labels do not repeat.
 */
export function getAxisFormat(points: readonly { readonly at: number }[]): (at: number) => string {
  const length = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  if (length < maxSecondsLength) return secondFormat;
  return length <= maxLength * 1000 ? minuteFormat : dateFormat;
}
