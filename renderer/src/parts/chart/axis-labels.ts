import type uPlot from 'uplot';
import { roundTimes } from './times.ts';

/** So many px a name below the axis takes, with the space before the next: that of a day, and a time of day. */
const [dayWidth, clockWidth] = [64, 56];
/** So far below the plot names begin, as uPlot has it. */
const nameGap = 5;

/**
 * Moments that have a name, the last one always: of a line round ones, as far as they leave room for the last; of bars
 * those of values, as a name stands below a bar, never between two.
 */
export function named(kind: 'bars' | 'line', at: ArrayLike<number>, width: number): number[] {
  const [first = 0, last = 0] = [at[0], at[at.length - 1]];
  const round = kind === 'line' ? roundTimes(first, last, width / clockWidth) : undefined;
  if (round === undefined) return every(at, Math.ceil((at.length * dayWidth) / width));
  const room = ((last - first) * clockWidth) / width;
  return [...round.filter((time) => last - time >= room), last];
}

function every(at: ArrayLike<number>, distance: number): number[] {
  const last = at.length - 1;
  return Array.from(at).filter((_, index) => (last - index) % distance === 0);
}

/** The name of the last moment, which ends where the plot ends. */
export function paintLastName(
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
  ctx.fillText(name, right, bbox.top + bbox.height + nameGap * pxRatio);
  ctx.restore();
}
