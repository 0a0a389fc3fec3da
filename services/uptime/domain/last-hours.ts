import type { UptimeHour } from '../../contracts/uptime/views.ts';
import { uptimeByTime, type Tally } from './tally.ts';

const hourMs = 3_600_000;
const shownHours = 24;

interface Given {
  /** Tallies by the start of the hour. */
  readonly hours: ReadonlyMap<number, Readonly<Tally>>;
  readonly now: number;
  /** Gap between heartbeats after which the status is unknown. */
  readonly longestGapMs: number;
}

/**
 * Returns the uptime of the last 24 hours, oldest first. An hour between two infrequent heartbeats has the status of
 * the earlier one.
 */
export function lastHours({ hours, now, longestGapMs }: Given): UptimeHour[] {
  const current = Math.floor(now / hourMs) * hourMs;
  const first = current - (shownHours - 1) * hourMs;
  const counted = [...hours].filter(([start]) => start <= current).sort(([a], [b]) => a - b);
  let next = 0;
  let last: { readonly start: number; readonly hour: UptimeHour } | undefined;
  return Array.from({ length: shownHours }, (_, index) => {
    const start = first + index * hourMs;
    for (let found = counted[next]; found !== undefined && found[0] <= start; found = counted[next]) {
      last = { start: found[0], hour: hourOf(found[1]) };
      next += 1;
    }
    if (last === undefined || (last.start !== start && start - last.start > longestGapMs)) return null;
    return last.start === start ? last.hour : asLeft(last.hour);
  });
}

function hourOf(tally: Readonly<Tally>): UptimeHour {
  if (tally.up + tally.down === 0) return tally.maintenance > 0 ? 'maintenance' : null;
  const share = uptimeByTime(tally) ?? 0;
  // Rounding never yields 0 or 1 for an hour that was partly up and partly down.
  return share === 0 || share === 1 ? share : Math.min(0.999, Math.max(0.001, Math.round(share * 1000) / 1000));
}

function asLeft(hour: UptimeHour): UptimeHour {
  return typeof hour === 'number' && hour > 0 ? 1 : hour;
}
