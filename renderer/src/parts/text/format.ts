const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short' });
const farDay = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false });
const wholeDay = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const full = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'medium', hour12: false });

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

/** A past time in as few words as tell it: `now`, `4 min ago`, `14:05`, `Tue, Mar 3`, `Mar 3, 2024`. */
export function ago(time: number, now: number): string {
  const seconds = (now - time) / 1000;
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${String(Math.floor(seconds / 60))} min ago`;
  if (new Date(time).toDateString() === new Date(now).toDateString()) return hour.format(time);
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

/** A moment on a list of what has been: `14:05` of today, `Tue, Mar 3, 14:05` of another day. */
export function momentOf(time: number, now: number): string {
  const clock = hour.format(time);
  return new Date(time).toDateString() === new Date(now).toDateString() ? clock : `${shortDay(time, now)}, ${clock}`;
}

/** The whole date and time, for tooltips and details. */
export function fullTime(time: number): string {
  return full.format(time);
}
