import { z } from 'zod';

/** A span of the week, in wall-clock minutes since Monday 00:00; `to` may lie beyond the week's end. */
export interface QuietSpan {
  readonly from: number;
  readonly to: number;
}

const minutesPerDay = 24 * 60;
const minutesPerWeek = 7 * minutesPerDay;
const msPerMinute = 60_000;
/** Time zones change their offset only at such moments, so that within one the wall clock runs evenly. */
const zoneStepMinutes = 15;
const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const dayPattern = '(?:mon|tue|wed|thu|fri|sat|sun)';
const timePattern = '(?:(?:[01]?\\d|2[0-3]):[0-5]\\d|24:00)';
const linePattern = new RegExp(
  `^\\s*(?:(?:daily|${dayPattern}(?:\\s*-\\s*${dayPattern})?(?:\\s+${dayPattern}(?:\\s*-\\s*${dayPattern})?)*)\\s+)?` +
    `${timePattern}\\s*-\\s*${timePattern}\\s*$`,
  'i',
);

/** One line of the quiet hours as a person writes it: `22:00-07:00`, `mon-fri 22:00-07:00`, `sat sun 23:00-09:30`. */
export const QuietHours = z
  .string()
  .max(100)
  .regex(
    linePattern,
    'Use days and times such as mon-fri 22:00-07:00, sat sun 23:00-09:00, or 22:00-07:00 for every day.',
  );

/** The spans of all lines. One over midnight belongs to the day on which it begins; equal times are a whole day. */
export function parseQuietSpans(lines: readonly string[]): readonly QuietSpan[] {
  return lines.filter((line) => linePattern.test(line)).flatMap(parseSpans);
}

function parseSpans(line: string): QuietSpan[] {
  const [from = 0, to = 0] = [...line.matchAll(/(\d+):(\d+)/g)].map(([, hour, min]) => Number(hour) * 60 + Number(min));
  const words = [...line.toLowerCase().matchAll(/([a-z]+)(?:\s*-\s*([a-z]+))?/g)].filter(([word]) => word !== 'daily');
  const days =
    words.length === 0 ? dayNames.keys() : words.flatMap(([, first = '', last = first]) => toDayRange(first, last));
  return [...days].map((index) => ({
    from: index * minutesPerDay + from,
    to: index * minutesPerDay + (to > from ? to : to + minutesPerDay),
  }));
}

/** `fri`, `mon` -> Friday to Monday, over the week's end. */
function toDayRange(first: string, last: string): number[] {
  const from = dayNames.indexOf(first);
  const length = ((dayNames.indexOf(last) - from + 7) % 7) + 1;
  return Array.from({ length }, (_, index) => (from + index) % 7);
}

/** Minutes since Monday 00:00 that the wall clock shows at a moment (ms since the epoch). */
export type WallClock = (time: number) => number;

/** The wall clock of a time zone; without one, that of this machine. */
export function createWallClock(zone?: string): WallClock {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(zone === undefined ? {} : { timeZone: zone }),
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (time) => {
    const part = new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
    const weekday = dayNames.indexOf((part.get('weekday') ?? '').toLowerCase());
    return weekday * minutesPerDay + Number(part.get('hour')) * 60 + Number(part.get('minute'));
  };
}

function isInSpans(spans: readonly QuietSpan[], weekMinute: number): boolean {
  return spans.some(
    ({ from, to }) =>
      (weekMinute >= from && weekMinute < to) ||
      (weekMinute + minutesPerWeek >= from && weekMinute + minutesPerWeek < to),
  );
}

/** Whether it is quiet at a moment (ms since the epoch). */
export function isQuiet(spans: readonly QuietSpan[], wall: WallClock, time: number): boolean {
  return spans.length > 0 && isInSpans(spans, wall(time));
}

/**
 * The moment (ms since the epoch) when the quiet that reigns at `time` ends; undefined when it is not quiet, and
 * Infinity when it never ends. Compares what the clock on the wall shows, so that a change to or from summer time makes
 * the night shorter or longer, never its end another one.
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
