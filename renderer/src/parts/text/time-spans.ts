/** Days in the notation of quiet hours, and their labels. */
export const dayOptions = [
  ['', 'Every day'],
  ['mon-fri', 'Monday to Friday'],
  ['sat sun', 'Saturday and Sunday'],
  ['sun-thu', 'Sunday to Thursday'],
  ['fri sat', 'Friday and Saturday'],
  ['mon', 'Monday'],
  ['tue', 'Tuesday'],
  ['wed', 'Wednesday'],
  ['thu', 'Thursday'],
  ['fri', 'Friday'],
  ['sat', 'Saturday'],
  ['sun', 'Sunday'],
] as const;

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
  const dayLabel = dayOptions.find(([key]) => key === days)?.[1] ?? days;
  return from === to ? `${dayLabel}, all day` : `${dayLabel} ${from}–${to}`;
}
