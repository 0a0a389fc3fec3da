import type { GitActivityPart } from '../../../../../services/contracts/git/insights-api.ts';

/** Day of the heatmap. */
export interface HeatmapDay {
  /** Start of the day in the local time zone, ms. */
  readonly time: number;
  readonly count: number;
  /** 0 without contributions, up to 4. */
  readonly level: 0 | 1 | 2 | 3 | 4;
}

/** Number of weeks, including the current one. */
export const heatmapWeeks = 53;

/**
 * Arranges contributions in weeks of seven days, oldest first. The last week ends today and may be shorter.
 *
 * @param firstWeekday First day of the week, 0 for Sunday.
 */
export function buildHeatmap(
  parts: readonly GitActivityPart[],
  now: number,
  firstWeekday: number,
): readonly (readonly HeatmapDay[])[] {
  const counts = new Map<number, number>();
  for (const { time, count } of parts) {
    const day = startOfDay(time);
    counts.set(day, (counts.get(day) ?? 0) + count);
  }
  const largest = Math.max(1, ...counts.values());
  const today = new Date(startOfDay(now));
  const passedDays = (today.getDay() - firstWeekday + 7) % 7;
  const toTime = (offset: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).getTime();
  const first = -passedDays - 7 * (heatmapWeeks - 1);
  return Array.from({ length: heatmapWeeks }, (_, week) =>
    Array.from({ length: 7 }, (__, weekday) => first + week * 7 + weekday)
      .filter((offset) => offset <= 0)
      .map((offset) => {
        const time = toTime(offset);
        const count = counts.get(time) ?? 0;
        return { time, count, level: toLevel(count, largest) };
      }),
  );
}

function toLevel(count: number, largest: number): HeatmapDay['level'] {
  if (count === 0) return 0;
  return Math.min(4, Math.ceil((count / largest) * 4)) as HeatmapDay['level'];
}

/** Days differ in length where the clock changes. */
function startOfDay(time: number): number {
  const date = new Date(time);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
