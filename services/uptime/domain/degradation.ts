import type { Degradation } from '../../contracts/uptime/monitor.ts';
import { medianDistance, quantile, countValues, type Histogram } from './histogram.ts';

type Rule = Exclude<Degradation, false>;

/** Default rule for monitors without a rule. */
export const defaultRule: Rule = {
  window: 9,
  ratio: 1.5,
  floorMs: 20,
  openAfter: 3,
  closeAfter: 5,
  minSamples: 100,
  maxMs: null,
};

/** Usual response time of a monitor and the threshold above which its median is slow. */
export interface Baseline {
  readonly median: number;
  readonly threshold: number;
}

/** Converts a median absolute deviation into a standard deviation. */
const deviationFactor = 1.4826;

/** Computes the baseline of the last seven days; undefined with too few samples. */
export function computeBaseline(rule: Rule, weekHistogram: Histogram): Baseline | undefined {
  const { ratio, floorMs, maxMs, minSamples } = rule;
  if (countValues(weekHistogram) < minSamples) return maxMs === null ? undefined : { median: 0, threshold: maxMs };
  const median = quantile(weekHistogram, 0.5);
  const threshold = Math.max(
    median + 4 * deviationFactor * medianDistance(weekHistogram, median),
    ratio * median,
    median + floorMs,
    1.1 * quantile(weekHistogram, 0.95),
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
export function updateSlowness(
  rule: Rule,
  previous: Slowness,
  baseline: Baseline | undefined,
  ping: number,
  at: number,
): SlownessVerdict {
  const recent = [...previous.recent, ping].slice(-rule.window);
  const current = getMedian(recent);
  if (baseline === undefined || recent.length < rule.window) {
    return { slowness: { ...previous, recent }, current, change: undefined };
  }
  const isSlow = previous.slowSince !== null;
  const isCounted = isSlow ? current <= baseline.threshold : current > baseline.threshold;
  const inRow = isCounted ? previous.inRow + 1 : 0;
  if (inRow < (isSlow ? rule.closeAfter : rule.openAfter)) {
    return { slowness: { recent, inRow, slowSince: previous.slowSince }, current, change: undefined };
  }
  return {
    slowness: { recent, inRow: 0, slowSince: isSlow ? null : at },
    current,
    change: isSlow ? 'ended' : 'began',
  };
}

function getMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
