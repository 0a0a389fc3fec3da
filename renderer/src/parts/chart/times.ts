const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** Distances of the moments that are named below a line, in seconds. */
const distances = [
  ...[1, 2, 5, 10, 15, 30],
  ...[minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 4 * hour, 6 * hour, 12 * hour],
];
/** Longer ones are named by their days. */
const longest = 2 * day;

/** Round moments within a time, as many as find room: 03:00, 06:00; undefined where it is too long for a clock. Seconds. */
export function roundTimes(first: number, last: number, most: number): readonly number[] | undefined {
  const length = last - first;
  if (length <= 0 || length > longest) return undefined;
  const distance = distances.find((each) => length / each <= most) ?? day;
  const offset = new Date(first * 1000).getTimezoneOffset() * minute;
  const begin = Math.ceil((first - offset) / distance) * distance + offset;
  return Array.from({ length: Math.floor((last - begin) / distance) + 1 }, (_, at) => begin + at * distance);
}

/** What a value of a chart belongs to. */
export type Moment = 'Month' | 'Day' | 'Hour' | 'Time';

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric' });
const dayName = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const minuteName = new Intl.DateTimeFormat('en', clock);
const secondName = new Intl.DateTimeFormat('en', { ...clock, second: '2-digit' });

/** How moments are named in full: `Thu, Nov 26` or `Thu, Nov 26, 09:00`, with seconds where a minute has several. */
export function momentNames(moment: Moment, points: readonly { readonly at: number }[]): (at: number) => string {
  if (moment === 'Month') return (at) => monthName.format(at);
  if (moment === 'Day') return (at) => dayName.format(at);
  const length = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
  const time = length / Math.max(1, points.length - 1) < minute * 1000 ? secondName : minuteName;
  return (at) => `${dayName.format(at)}, ${time.format(at)}`;
}
