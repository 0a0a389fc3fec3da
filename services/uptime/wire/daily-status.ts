import type { Clock } from '../../contracts/service.ts';
import type { ChartPoint } from '../../contracts/uptime/views.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { StoredPage } from '../store/status-pages.ts';
import { getPageMonitors } from './page-status.ts';

const dayMs = 86_400_000;
/** Number of days that a status page shows. */
export const visibleDays = 90;

/** Uptime of a monitor on one day in UTC, 0 to 1; null when unknown. */
export interface DailyStatus {
  /** Start of the day, ms since the epoch. */
  readonly start: number;
  readonly uptime: number | 'maintenance' | null;
}

export interface DailyHistory {
  /** Oldest first, today last. */
  readonly days: readonly DailyStatus[];
  /** Share of successful checks in all days; null without checks. */
  readonly uptime: number | null;
}

/** Returns the daily uptime of the monitors of a page by the ID of the monitor. */
export async function getDailyHistories(
  { monitoring, clock }: { readonly monitoring: Monitoring; readonly clock: Clock },
  page: StoredPage,
): Promise<ReadonlyMap<number, DailyHistory>> {
  const entries = getPageMonitors(page, monitoring.monitors).map(async (monitor) => {
    const points = await monitoring.statistics.getChart(monitor, visibleDays * 24);
    return [monitor.id, toDailyHistory(points, clock.now())] as const;
  });
  return new Map(await Promise.all(entries));
}

/** Assigns chart points to the days that end with today. */
export function toDailyHistory(points: readonly ChartPoint[], now: number): DailyHistory {
  const today = Math.floor(now / dayMs) * dayMs;
  const pointsByDay = new Map(points.map((point) => [point.timestamp * 1000, point]));
  const days = Array.from({ length: visibleDays }, (_, index) => {
    const start = today - (visibleDays - 1 - index) * dayMs;
    return { start, point: pointsByDay.get(start) };
  });
  const up = days.reduce((sum, { point }) => sum + (point?.up ?? 0), 0);
  const down = days.reduce((sum, { point }) => sum + (point?.down ?? 0), 0);
  return {
    days: days.map(({ start, point }) => ({ start, uptime: point === undefined ? null : toUptime(point) })),
    uptime: up + down === 0 ? null : up / (up + down),
  };
}

function toUptime({ up, down, maintenance = 0 }: ChartPoint): DailyStatus['uptime'] {
  if (up + down === 0) return maintenance > 0 ? 'maintenance' : null;
  return up / (up + down);
}
