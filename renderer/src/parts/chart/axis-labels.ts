import type uPlot from 'uplot';
import { getRoundTimes } from './times.ts';

/**
 * Width of a label below the axis including the space to the next one, in px: that of a day and that of a time of
 * day.
 */
const [dayWidth, clockWidth] = [64, 56];
/** Distance of the labels from the plot in px, as in uPlot. */
const labelGap = 5;

/**
 * Returns the times that have a label, always including the last one. Lines have labels at round times where they
 * leave room for the last label; bars have labels below a bar, never between two.
 */
export function getLabelledTimes(kind: 'bars' | 'line', times: ArrayLike<number>, width: number): number[] {
  const [first = 0, last = 0] = [times[0], times[times.length - 1]];
  const roundedTimes = kind === 'line' ? getRoundTimes(first, last, width / clockWidth) : undefined;
  if (roundedTimes === undefined) return everyNth(times, Math.ceil((times.length * dayWidth) / width));
  const minDistance = ((last - first) * clockWidth) / width;
  return [...roundedTimes.filter((time) => last - time >= minDistance), last];
}

function everyNth(at: ArrayLike<number>, distance: number): number[] {
  const last = at.length - 1;
  return Array.from(at).filter((_, index) => (last - index) % distance === 0);
}

/** Paints the last label, which ends where the plot ends. */
export function paintLastLabel(
  plot: uPlot,
  at: number,
  name: string,
  { font, color }: { readonly font: string; readonly color: string },
): void {
  const { ctx, bbox, width } = plot;
  const pxRatio = ctx.canvas.width / width;
  ctx.save();
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * pxRatio));
  ctx.fillStyle = color;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  const half = ctx.measureText(name).width / 2;
  const right = Math.min(plot.valToPos(at, 'x', true) + half, bbox.left + bbox.width);
  ctx.fillText(name, right, bbox.top + bbox.height + labelGap * pxRatio);
  ctx.restore();
}
