import type { ChartPoint } from '../../../../../services/contracts/uptime/views.ts';

/** Time span in ms since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Computes when a monitor was down from the points of its chart. A point covers the time until the next one, at most the
 * median distance of points. Only the share of failed checks of this time counts as down.
 */
export function getDownSpans(points: readonly ChartPoint[]): readonly Span[] {
  const gaps = points.slice(1).map(({ timestamp }, index) => timestamp - (points[index]?.timestamp ?? 0));
  const medianGap = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  return points.flatMap(({ up, down, timestamp }, index) => {
    if (down === 0) return [];
    const coveredSeconds = Math.min(gaps[index] ?? medianGap, medianGap);
    return [{ from: timestamp * 1000, to: (timestamp + (coveredSeconds * down) / (up + down)) * 1000 }];
  });
}
