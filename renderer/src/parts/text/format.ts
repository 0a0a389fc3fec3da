const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });
const farDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const wholeDay = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const nearDay = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long' });
const toTheMinute = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short', hourCycle: 'h23' });
const full = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium', hourCycle: 'h23' });

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Bytes in steps of 1000, as file managers show them: `1.4 GB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? String(Math.round(value)) : number.format(value)} ${units[unit] ?? ''}`;
}

/** Seconds as a clock: `0:07`, `12:30`, `1:02:03`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${String(hours)}:${two(minutes)}:${two(whole % 60)}` : `${String(minutes)}:${two(whole % 60)}`;
}

/** The day in as few words as tell it: `Tue, Mar 3`, `Mar 3, 2024` of another year. */
function shortDay(time: number, now: number): string {
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? day : farDay).format(time);
}

/** Units of time from the smallest, each with its ms and the last ms that it tells well. */
const times = [
  ['ms', 1, 999.5],
  ['s', 1000, 59_500],
  ['min', 60_000, 59.5 * 60_000],
  ['h', 3_600_000, 47.5 * 3_600_000],
  ['days', 86_400_000, Infinity],
] as const;

/** The unit that tells a time of so many ms in few digits, and how many ms it has. */
export function timeUnit(milliseconds: number): { readonly unit: string; readonly length: number } {
  const [unit, length] = times.find(([, , most]) => milliseconds < most) ?? times[0];
  return { unit, length };
}

/** How long something took, given in ms: `25 ms`, `1.4 s`, `12 min`, `4 h`. */
export function tookWords(milliseconds: number): string {
  const { unit, length } = timeUnit(milliseconds);
  const count = milliseconds / length;
  return `${length > 1 && count < 10 ? number.format(count) : Math.round(count).toLocaleString('en')} ${unit}`;
}

/** Whether a time is of the day before. */
export function isYesterday(time: number, now: number): boolean {
  const before = new Date(now);
  before.setDate(before.getDate() - 1);
  return new Date(time).toDateString() === before.toDateString();
}

/** A past time in as few words as tell it: `now`, `4 min ago`, `14:05`, `yesterday, 22:30` of a late hour, `yesterday`, `Tue, Mar 3`, `Mar 3, 2024`. */
export function ago(time: number, now: number): string {
  const seconds = (now - time) / 1000;
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${String(Math.floor(seconds / 60))} min ago`;
  if (new Date(time).toDateString() === new Date(now).toDateString()) return hour.format(time);
  // Late in the evening is still told by its hour when midnight has passed.
  if (isYesterday(time, now)) return seconds < 12 * 3600 ? `yesterday, ${hour.format(time)}` : 'yesterday';
  return shortDay(time, now);
}

/** A past time under the name of its day: `now`, `4 min ago`, `14:05`. */
export function agoInDay(time: number, now: number): string {
  return now - time < 3_600_000 ? ago(time, now) : hour.format(time);
}

/** The day of a time: `Tuesday, March 3, 2026`. */
export function dayOf(time: number): string {
  return wholeDay.format(time);
}

/** The day that stands above what was in it: `Today`, `Yesterday`, `Tuesday, March 3`, with its year where that is another. */
export function dayAbove(time: number, now: number): string {
  const on = new Date(time);
  if (on.toDateString() === new Date(now).toDateString()) return 'Today';
  if (isYesterday(time, now)) return 'Yesterday';
  return on.getFullYear() === new Date(now).getFullYear() ? nearDay.format(time) : dayOf(time);
}

/** A moment on a list of what has been: `14:05` of today, `Tue, Mar 3, 14:05` of another day. */
export function momentOf(time: number, now: number): string {
  const clock = hour.format(time);
  return new Date(time).toDateString() === new Date(now).toDateString() ? clock : `${shortDay(time, now)}, ${clock}`;
}

/** The day and the time of something that is read: `Friday, November 27, 2026 at 13:09`. */
export function dayAndTime(time: number): string {
  return toTheMinute.format(time);
}

/** The whole date and time, for tooltips and details. */
export function fullTime(time: number): string {
  return full.format(time);
}
