import * as m from '#messages/contracts-problems';
import { z } from 'zod';

/** Span of the week in wall-clock minutes since Monday 00:00; `to` may be after the end of the week. */
export interface QuietSpan {
  readonly from: number;
  readonly to: number;
}

const minutesPerDay = 24 * 60;
const minutesPerWeek = 7 * minutesPerDay;
const msPerMinute = 60_000;
/** Time zone offsets change only at multiples of this, so wall-clock time is continuous in between. */
const zoneStepMinutes = 15;
const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const dayPattern = '(?:mon|tue|wed|thu|fri|sat|sun)';
const timePattern = '(?:(?:[01]?\\d|2[0-3]):[0-5]\\d|24:00)';
const linePattern = new RegExp(
  `^\\s*(?:(?:daily|${dayPattern}(?:\\s*-\\s*${dayPattern})?(?:\\s+${dayPattern}(?:\\s*-\\s*${dayPattern})?)*)\\s+)?` +
    `${timePattern}\\s*-\\s*${timePattern}\\s*$`,
  'i',
);

/** Line of quiet hours: `22:00-07:00`, `mon-fri 22:00-07:00`, `sat sun 23:00-09:30`. */
export const QuietHours = z.string().max(100).regex(linePattern, { error: m.quietHoursInvalid });

/**
 * Parses the spans of all lines. A span over midnight belongs to the day on which it begins; equal times mean a whole
 * day.
 */
export function parseQuietSpans(lines: readonly string[]): readonly QuietSpan[] {
  return lines.filter((line) => linePattern.test(line)).flatMap(parseSpans);
}

function parseSpans(line: string): QuietSpan[] {
  const [from = 0, to = 0] = [...line.matchAll(/(\d+):(\d+)/g)].map(([, hour, min]) => Number(hour) * 60 + Number(min));
  const dayRanges = [...line.toLowerCase().matchAll(/([a-z]+)(?:\s*-\s*([a-z]+))?/g)].filter(
    ([word]) => word !== 'daily',
  );
  const days =
    dayRanges.length === 0
      ? dayNames.keys()
      : dayRanges.flatMap(([, first = '', last = first]) => toDayRange(first, last));
  return [...days].map((index) => ({
    from: index * minutesPerDay + from,
    to: index * minutesPerDay + (to > from ? to : to + minutesPerDay),
  }));
}

/** Returns the days from first to last, across the end of the week: `fri`, `mon` is Friday to Monday. */
function toDayRange(first: string, last: string): number[] {
  const from = dayNames.indexOf(first);
  const length = ((dayNames.indexOf(last) - from + 7) % 7) + 1;
  return Array.from({ length }, (_, index) => (from + index) % 7);
}

/** Converts a time (ms since the epoch) to wall-clock minutes since Monday 00:00. */
export type WallClock = (time: number) => number;

/** Creates the wall clock of a time zone; by default that of this computer. */
export function createWallClock(zone?: string): WallClock {
  // Time zone data is loaded on first use; an explicit zone is validated immediately.
  let format = zone === undefined ? undefined : createWeekFormat(zone);
  return (time) => {
    format ??= createWeekFormat(undefined);
    const part = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const weekday = dayNames.indexOf((part.get('weekday') ?? '').toLowerCase());
    return weekday * minutesPerDay + Number(part.get('hour')) * 60 + Number(part.get('minute'));
  };
}

function createWeekFormat(zone: string | undefined): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    ...(zone === undefined ? {} : { timeZone: zone }),
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
}

function isInSpans(spans: readonly QuietSpan[], weekMinute: number): boolean {
  return spans.some(
    ({ from, to }) =>
      (weekMinute >= from && weekMinute < to) ||
      (weekMinute + minutesPerWeek >= from && weekMinute + minutesPerWeek < to),
  );
}

/** Returns whether a time (ms since the epoch) is within quiet hours. */
export function isQuiet(spans: readonly QuietSpan[], wall: WallClock, time: number): boolean {
  return spans.length > 0 && isInSpans(spans, wall(time));
}

/**
 * Returns the end (ms since the epoch) of the quiet hours at `time`; undefined outside of quiet hours, Infinity when
 * they never end. Compares wall-clock times, so that a change to or from summer time changes the duration of a night
 * but not its end.
 */
export function getQuietEnd(spans: readonly QuietSpan[], wall: WallClock, time: number): number | undefined {
  if (!isQuiet(spans, wall, time)) return undefined;
  const thisMinute = Math.floor(time / msPerMinute);
  const firstBlock = thisMinute - (thisMinute % zoneStepMinutes);
  for (let block = firstBlock; block <= thisMinute + minutesPerWeek; block += zoneStepMinutes) {
    const wallMinute = wall(block * msPerMinute);
    for (let offset = 0; offset < zoneStepMinutes; offset += 1) {
      if (block + offset <= thisMinute) continue;
      if (!isInSpans(spans, (wallMinute + offset) % minutesPerWeek)) return (block + offset) * msPerMinute;
    }
  }
  return Infinity;
}
