import type { Degradation } from '../../contracts/uptime/monitor.ts';
import { medianDistance, quantile, total, type Spread } from './histogram.ts';

type Rule = Exclude<Degradation, false>;

/** Default rule for monitors without a rule. */
export const usualRule: Rule = {
  window: 9,
  ratio: 1.5,
  floorMs: 20,
  openAfter: 3,
  closeAfter: 5,
  minSamples: 100,
  maxMs: null,
};

/** Usual response time of a monitor and the threshold above which its median is slow. */
export interface Usual {
  readonly median: number;
  readonly threshold: number;
}

/** Converts a median absolute deviation into a standard deviation. */
const toDeviation = 1.4826;

/** Computes the baseline of the last seven days; undefined with too few samples. */
export function usualOf(rule: Rule, week: Spread): Usual | undefined {
  const { ratio, floorMs, maxMs, minSamples } = rule;
  if (total(week) < minSamples) return maxMs === null ? undefined : { median: 0, threshold: maxMs };
  const median = quantile(week, 0.5);
  const threshold = Math.max(
    median + 4 * toDeviation * medianDistance(week, median),
    ratio * median,
    median + floorMs,
    1.1 * quantile(week, 0.95),
  );
  return { median, threshold: maxMs === null ? threshold : Math.min(threshold, maxMs) };
}

/** Response time state of a monitor, updated with each heartbeat. */
export interface Slowness {
  readonly recent: readonly number[];
  /** Consecutive heartbeats above the threshold, or below it while the monitor is slow. */
  readonly inRow: number;
  readonly slowSince: number | null;
}

export const notSlow: Slowness = { recent: [], inRow: 0, slowSince: null };

export interface SlownessVerdict {
  readonly slowness: Slowness;
  /** Median of the recent response times. */
  readonly current: number;
  readonly change: 'began' | 'ended' | undefined;
}

/** Returns the state after a response that took `ping` milliseconds. */
export function afterAnswer(
  rule: Rule,
  before: Slowness,
  usual: Usual | undefined,
  ping: number,
  at: number,
): SlownessVerdict {
  const recent = [...before.recent, ping].slice(-rule.window);
  const current = medianOf(recent);
  if (usual === undefined || recent.length < rule.window) {
    return { slowness: { ...before, recent }, current, change: undefined };
  }
  const slow = before.slowSince !== null;
  const counts = slow ? current <= usual.threshold : current > usual.threshold;
  const inRow = counts ? before.inRow + 1 : 0;
  if (inRow < (slow ? rule.closeAfter : rule.openAfter)) {
    return { slowness: { recent, inRow, slowSince: before.slowSince }, current, change: undefined };
  }
  return {
    slowness: { recent, inRow: 0, slowSince: slow ? null : at },
    current,
    change: slow ? 'ended' : 'began',
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
