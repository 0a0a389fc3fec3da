import * as m from '#messages/sync';
import type { SyncJob } from '../../../../../services/contracts/sync/api.ts';
import type { Tone } from '../../../parts/chart/colors.ts';
import type { MarkShape } from '../../../parts/chart/marks.ts';
import { formatBytes, formatElapsed, getTimeUnit } from '../../../parts/text/format.ts';

/** Quantity that the bars of runs show. */
export type RunMetric = 'size' | 'files' | 'duration';

/** Maximum number of runs in the chart; as many earlier runs are compared with them. */
export const maxRuns = 30;

/** Unit of the values of a metric. */
interface RunUnit {
  readonly name: string;
  /** Bytes, files or ms in one unit. */
  readonly length: number;
  readonly format: (value: number) => string;
}

/** Results in the order of the legend, each with its own color and shape. */
export const runResults = [
  { id: 'done', label: m.runsDone, tone: 'ok', shape: 'circle' },
  { id: 'errors', label: m.runsWithErrors, tone: 'warn', shape: 'triangle' },
  { id: 'failed', label: m.runsFailed, tone: 'bad', shape: 'cross' },
  { id: 'unfinished', label: m.runsUnfinished, tone: 'soft', shape: 'square' },
] as const satisfies readonly { id: string; label: () => string; tone: Tone; shape: MarkShape }[];

/** Returns the result of a run that has ended or waits for an approval. */
export function getRunResult({ state, totals }: Pick<SyncJob, 'state' | 'totals'>): (typeof runResults)[number] {
  if (state === 'failed') return runResults[2];
  if (state !== 'done') return runResults[3];
  return totals.errors > 0 ? runResults[1] : runResults[0];
}

/** Returns the value of a run in bytes, files or ms. */
export function getRunValue(metric: RunMetric, { totals, startedAt, endedAt }: SyncJob): number {
  if (metric === 'size') return totals.bytes;
  return metric === 'files' ? totals.transfers : Math.max(0, (endedAt ?? startedAt) - startedAt);
}

/** Factor of the median from which on a value is an outlier, and the number of values that a median requires. */
const [outlierFactor, minValues] = [8, 5];

/**
 * Returns the largest value that is not an outlier: the first run of a sync copies everything, and its bar would make
 * the others as flat as a line. Undefined without outliers.
 */
export function getRunLimit(values: readonly number[]): number | undefined {
  const sorted = values.filter((value) => value > 0).toSorted((left, right) => left - right);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const max = sorted.at(-1) ?? 0;
  if (sorted.length < minValues || max <= outlierFactor * median) return undefined;
  return sorted.findLast((value) => value <= outlierFactor * median);
}

/** Returns the unit that shows values up to a maximum in few digits. */
export function getRunUnit(metric: RunMetric, max: number): RunUnit {
  if (metric === 'files') return { name: '', length: 1, format: (value) => m.filesCopied({ count: value }) };
  if (metric === 'duration') {
    const { unit, length } = getTimeUnit(max);
    return { name: unit, length, format: (value) => formatElapsed(value * length) };
  }
  const [name, length] = max >= 1e9 ? ['GB', 1e9] : max >= 1e6 ? ['MB', 1e6] : ['kB', 1e3];
  return { name, length, format: (value) => formatBytes(value * length) };
}
