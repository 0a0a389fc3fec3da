import * as m from '#messages/parts';

/** Returns the days in the notation of quiet hours, and their labels. */
export function listDays(): readonly (readonly [string, string])[] {
  return [
    ['', m.everyDay()],
    ['mon-fri', m.mondayToFriday()],
    ['sat sun', m.saturdayAndSunday()],
    ['sun-thu', m.sundayToThursday()],
    ['fri sat', m.fridayAndSaturday()],
    ['mon', m.monday()],
    ['tue', m.tuesday()],
    ['wed', m.wednesday()],
    ['thu', m.thursday()],
    ['fri', m.friday()],
    ['sat', m.saturday()],
    ['sun', m.sunday()],
  ];
}

/**
 * A line of quiet hours, parsed: `mon-fri 22:00-07:00`. Times have the format of time inputs and are empty while
 * missing.
 */
export interface Span {
  readonly days: string;
  readonly from: string;
  readonly to: string;
}

export function parseSpan(line: string): Span {
  const [, days = '', from = '', to = ''] = /^\s*(.*?)\s*(\d+:\d\d)?\s*-\s*(\d+:\d\d)?\s*$/.exec(line) ?? [];
  const dayText = days
    .toLowerCase()
    .replaceAll(/\s*-\s*/g, '-')
    .replaceAll(/\s+/g, ' ');
  // Time inputs have no 24:00, and a span until 00:00 has the same length.
  const time = (text: string): string => text.replace(/^24:/, '00:').replace(/^\d:/, '0$&');
  return { days: dayText === 'daily' ? '' : dayText, from: time(from), to: time(to) };
}

export function stringifySpan({ days, from, to }: Span): string {
  return `${days} ${from}-${to}`.trim();
}

/** Formats a line of quiet hours: `Monday to Friday 22:00–07:00`. */
export function formatSpan(line: string): string {
  const { days, from, to } = parseSpan(line);
  const dayLabel = listDays().find(([key]) => key === days)?.[1] ?? days;
  return from === to ? m.allDaySpan({ days: dayLabel }) : m.timeSpan({ days: dayLabel, from, to });
}
