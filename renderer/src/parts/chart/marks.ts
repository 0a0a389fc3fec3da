import type uPlot from 'uplot';
import type { ChartColors, Tone } from './colors.ts';

/** Symbol of a result above a bar, so that results differ without their color. */
export type MarkShape = 'circle' | 'square' | 'triangle' | 'cross';

/** Result of a point. */
export interface Mark {
  readonly tone: Tone;
  readonly shape: MarkShape;
}

/** Radius of a mark and its distance from the bar, in px. */
const [radius, gap] = [4, 3];
/** Height above a bar that its mark needs, in px. */
export const markSpace = 2 * radius + gap + 2;

/** Outlines of the marks as SVG paths around the origin, with the radius 1; the legend uses the same. */
export const markPaths: Readonly<Record<MarkShape, string>> = {
  circle: 'M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z',
  square: 'M-0.9,-0.9h1.8v1.8h-1.8z',
  triangle: 'M0,-1.1L1.1,0.9H-1.1z',
  cross: 'M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0z',
};

/** Paints the mark of each point above its bar; a point without a bar has its mark above the axis. */
export function paintMarks(plot: uPlot, marks: readonly (Mark | null)[], colors: ChartColors): void {
  const { ctx, width, data } = plot;
  const ratio = ctx.canvas.width / width;
  ctx.save();
  marks.forEach((mark, index) => {
    const x = data[0][index];
    if (mark === null || x === undefined) return;
    const value = Math.max(0, ...data.slice(1).map((values) => values[index] ?? 0));
    // A bar that the scale cuts has its mark above the plot.
    const y = Math.max(plot.valToPos(value, 'y', true), plot.bbox.top) - (radius + gap) * ratio;
    ctx.setTransform(radius * ratio, 0, 0, radius * ratio, plot.valToPos(x, 'x', true), y);
    ctx.fillStyle = colors.line(mark.tone)();
    ctx.fill(new Path2D(markPaths[mark.shape]));
  });
  ctx.restore();
}
