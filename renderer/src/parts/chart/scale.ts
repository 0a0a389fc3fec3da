/** A scale from nothing up: the distance of its lines, and its top, which no value is above. */
interface Scale {
  readonly step: number;
  readonly top: number;
}

/** Distances of the lines: whole numbers, as counts and milliseconds have no halves. */
const steps = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);
/** So many px apart they are at least. */
const lineDistance = 36;

/** The scale for values up to `max` in a plot of so many px; that of parts of a whole has room for the whole. */
export function scaleOf(max: number, height: number, whole = 0): Scale {
  const most = Math.max(2, Math.floor(height / lineDistance));
  const highest = Math.max(1, max, whole);
  const step = steps.find((each) => Math.ceil(highest / each) <= most) ?? highest;
  return { step, top: Math.ceil(highest / step) * step };
}

/** Where its lines are, its top the last of them. */
export function linesOf({ step, top }: Scale): number[] {
  return Array.from({ length: Math.round(top / step) + 1 }, (_, line) => line * step);
}
