/** Range of indexes of points, both included. */
export interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/** Minimum number of points that stay visible. */
export const minVisiblePoints = 3;
/** Minimum number of points for which zooming is offered. */
export const minZoomablePoints = 6;

/**
 * Enlarges or reduces a range by a factor. The point at `center` keeps its relative position, as far as the range stays
 * within the `count` points.
 */
export function scaleRange(
  { first, last }: IndexRange,
  { count, center, factor }: { readonly count: number; readonly center: number; readonly factor: number },
): IndexRange {
  const length = last - first + 1;
  const nextLength = clamp(Math.round(length * factor), Math.min(minVisiblePoints, count), count);
  const share = length <= 1 ? 0.5 : (center - first) / (length - 1);
  const start = clamp(Math.round(center - share * (nextLength - 1)), 0, count - nextLength);
  return { first: start, last: start + nextLength - 1 };
}

/** Shifts a range by as few points as necessary to include an index. */
export function moveRange({ first, last }: IndexRange, index: number): IndexRange {
  const distance = index < first ? index - first : Math.max(0, index - last);
  return { first: first + distance, last: last + distance };
}

/** Finds the points of a time span; undefined when it no longer contains enough of them. */
export function findRange(
  points: readonly { readonly at: number }[],
  { from, to }: { readonly from: number; readonly to: number },
): IndexRange | undefined {
  const first = points.findIndex(({ at }) => at >= from);
  const last = points.findLastIndex(({ at }) => at <= to);
  return first === -1 || last - first + 1 < Math.min(minVisiblePoints, points.length) ? undefined : { first, last };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
