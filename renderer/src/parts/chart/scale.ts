/** A scale that starts at zero: the distance of its grid lines, and a top that is at least the largest value. */
interface Scale {
  readonly step: number;
  readonly top: number;
}

/** Distances of grid lines: integers, because counts and milliseconds have no fractions. */
const steps = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);
/** Minimum distance of grid lines in px. */
const minLineDistancePx = 36;

/**
 * Returns the scale for values up to `max` in a plot of `height` px. A scale for parts of a total includes the total.
 */
export function buildScale(max: number, height: number, total = 0): Scale {
  const maxLines = Math.max(2, Math.floor(height / minLineDistancePx));
  const maxValue = Math.max(1, max, total);
  const step = steps.find((each) => Math.ceil(maxValue / each) <= maxLines) ?? maxValue;
  return { step, top: Math.ceil(maxValue / step) * step };
}

/** Returns the values of the grid lines; the top is the last one. */
export function getGridLines({ step, top }: Scale): number[] {
  return Array.from({ length: Math.round(top / step) + 1 }, (_, line) => line * step);
}
