import type { ChartPoint } from '../../../../services/contracts/uptime/views.ts';

/** Times in ms since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * When a monitor was down, as far as the points of its chart tell. A point tells of the time until the next one, or of as much
 * as usual lies between two where nothing was checked for longer; of an hour or a day only the share in which it was down.
 */
export function downSpansOf(points: readonly ChartPoint[]): readonly Span[] {
  const gaps = points.slice(1).map(({ timestamp }, index) => timestamp - (points[index]?.timestamp ?? 0));
  const usual = gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  return points.flatMap(({ up, down, timestamp }, index) => {
    if (down === 0) return [];
    const told = Math.min(gaps[index] ?? usual, usual);
    return [{ from: timestamp * 1000, to: (timestamp + (told * down) / (up + down)) * 1000 }];
  });
}
