import type { Degradation } from '../../contracts/uptime/monitor.ts';
import { medianDistance, quantile, total, type Spread } from './histogram.ts';

type Rule = Exclude<Degradation, false>;

/** The rule that monitors have of which nothing else is said. */
export const usualRule: Rule = {
  window: 9,
  ratio: 1.5,
  floorMs: 20,
  openAfter: 3,
  closeAfter: 5,
  minSamples: 100,
  maxMs: null,
};

/** What is usual for a monitor, and from where on its median is slow. */
export interface Usual {
  readonly median: number;
  readonly threshold: number;
}

/** Makes a standard deviation of a median distance. */
const toDeviation = 1.4826;

/** Of the last seven days. Undefined while too little is known. */
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

/** How slow a monitor is, beat by beat. */
export interface Slowness {
  readonly recent: readonly number[];
  /** Beats in a row above the threshold, or below it while it is slow. */
  readonly inRow: number;
  readonly slowSince: number | null;
}

export const notSlow: Slowness = { recent: [], inRow: 0, slowSince: null };

export interface SlownessVerdict {
  readonly slowness: Slowness;
  /** The median of the window. */
  readonly current: number;
  readonly change: 'began' | 'ended' | undefined;
}

/** After an answer that took `ping` ms. */
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
