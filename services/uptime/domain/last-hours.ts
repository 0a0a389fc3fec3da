import type { UptimeHour } from '../../contracts/uptime/views.ts';
import { getUptimeByTime, type Tally } from './tally.ts';

const hourMs = 3_600_000;
const visibleHours = 24;

interface LastHoursOptions {
  /** Tallies by the start of the hour. */
  readonly hours: ReadonlyMap<number, Readonly<Tally>>;
  readonly now: number;
  /** Gap between heartbeats after which the status is unknown. */
  readonly maxGapMs: number;
}

/**
 * Returns the uptime of the last 24 hours, oldest first. An hour between two infrequent heartbeats has the status of
 * the earlier one.
 */
export function getLastHours({ hours, now, maxGapMs }: LastHoursOptions): UptimeHour[] {
  const current = Math.floor(now / hourMs) * hourMs;
  const first = current - (visibleHours - 1) * hourMs;
  const sortedHours = [...hours].filter(([start]) => start <= current).sort(([a], [b]) => a - b);
  let next = 0;
  let previous: { readonly start: number; readonly hour: UptimeHour } | undefined;
  return Array.from({ length: visibleHours }, (_, index) => {
    const start = first + index * hourMs;
    for (let entry = sortedHours[next]; entry !== undefined && entry[0] <= start; entry = sortedHours[next]) {
      previous = { start: entry[0], hour: toUptimeHour(entry[1]) };
      next += 1;
    }
    if (previous === undefined || (previous.start !== start && start - previous.start > maxGapMs)) return null;
    return previous.start === start ? previous.hour : carryForward(previous.hour);
  });
}

function toUptimeHour(tally: Readonly<Tally>): UptimeHour {
  if (tally.up + tally.down === 0) return tally.maintenance > 0 ? 'maintenance' : null;
  const share = getUptimeByTime(tally) ?? 0;
  // Rounding never yields 0 or 1 for an hour that was partly up and partly down.
  return share === 0 || share === 1 ? share : Math.min(0.999, Math.max(0.001, Math.round(share * 1000) / 1000));
}

function carryForward(hour: UptimeHour): UptimeHour {
  return typeof hour === 'number' && hour > 0 ? 1 : hour;
}
