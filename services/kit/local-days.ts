/** Local calendar day such as `2026-11-21`, with its first moment in ms since the epoch. */
export interface LocalDay {
  readonly day: string;
  readonly from: number;
}

/** Returns the local day of a time in ms since the epoch. */
export function toLocalDay(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the last `count` local days, that of `now` last. Uses the calendar, since not every day has 24 hours. */
export function getLastDays(now: number, count: number): readonly LocalDay[] {
  return Array.from({ length: count }, (_, index) => {
    const date = new Date(now);
    date.setHours(0, 0, 0, 0);
    date.setDate(date.getDate() + index + 1 - count);
    return { day: toLocalDay(date.getTime()), from: date.getTime() };
  });
}

const hourMs = 3_600_000;

/** Returns the starts of the last hours, the current one last, in ms since the epoch. */
export function getLastHours(now: number, count = 24): readonly number[] {
  const current = Math.floor(now / hourMs) * hourMs;
  return Array.from({ length: count }, (_, index) => current - (count - 1 - index) * hourMs);
}
