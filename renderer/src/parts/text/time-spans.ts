/** Days in the words of a line, and what a person calls them. */
export const dayChoices = [
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

/** A line of quiet hours in its parts: `mon-fri 22:00-07:00`. Times as an input has them, empty while there is none. */
export interface Span {
  readonly days: string;
  readonly from: string;
  readonly to: string;
}

export function readSpan(line: string): Span {
  const [, days = '', from = '', to = ''] = /^\s*(.*?)\s*(\d+:\d\d)?\s*-\s*(\d+:\d\d)?\s*$/.exec(line) ?? [];
  const said = days
    .toLowerCase()
    .replaceAll(/\s*-\s*/g, '-')
    .replaceAll(/\s+/g, ' ');
  // An input has no 24:00, and a span to 00:00 lasts as long.
  const time = (text: string): string => text.replace(/^24:/, '00:').replace(/^\d:/, '0$&');
  return { days: said === 'daily' ? '' : said, from: time(from), to: time(to) };
}

export function writeSpan({ days, from, to }: Span): string {
  return `${days} ${from}-${to}`.trim();
}

/** A line of quiet hours as a person says it: `Monday to Friday 22:00–07:00`. */
export function spanWords(line: string): string {
  const { days, from, to } = readSpan(line);
  const said = dayChoices.find(([key]) => key === days)?.[1] ?? days;
  return from === to ? `${said}, all day` : `${said} ${from}–${to}`;
}
