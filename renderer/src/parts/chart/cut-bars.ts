import type uPlot from 'uplot';
import { formatNumber } from '../../../../messages/format.ts';
import type { LayerTone } from './colors.ts';
import type { Mark } from './marks.ts';

/** Height in px of the gap in a cut bar, and its distance from the top of the plot. */
const [gapHeight, gapTop] = [3, 9];
/** Rise in px of the gap from one side of the bar to the other. */
const gapRise = 5;

/**
 * Paints a slanted gap into each bar that exceeds the scale, and its value above it. A bar with a mark has no value,
 * because the mark takes its place.
 */
export function paintCutBars(
  plot: uPlot,
  {
    marks,
    tones,
    font,
    color,
  }: {
    readonly marks: readonly (Mark | null)[];
    readonly tones: readonly LayerTone[];
    readonly font: string;
    readonly color: string;
  },
): void {
  const { ctx, data, bbox, width } = plot;
  const ratio = ctx.canvas.width / width;
  const positions = data[0];
  const distance =
    positions.length > 1 ? plot.valToPos(positions[1] ?? 0, 'x') - plot.valToPos(positions[0] ?? 0, 'x') : 56;
  const max = plot.scales['y']?.max ?? Infinity;
  let labelEnd = -Infinity;
  ctx.save();
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.font = font;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'bottom';
  const top = bbox.top / ratio;
  for (const [index, position] of positions.entries()) {
    const heights = data.slice(1).map((values) => values[index] ?? 0);
    if (Math.max(0, ...heights) <= max) continue;
    const x = plot.valToPos(position, 'x') + bbox.left / ratio;
    // Erased instead of painted, so that the gap has the color of the ground.
    ctx.globalCompositeOperation = 'destination-out';
    ctx.lineWidth = gapHeight;
    ctx.beginPath();
    ctx.moveTo(x - distance / 2, top + gapTop + gapRise / 2);
    ctx.lineTo(x + distance / 2, top + gapTop - gapRise / 2);
    ctx.stroke();
    ctx.globalCompositeOperation = 'source-over';
    // Bars of the previous period are behind the others and have no value.
    const value = Math.max(0, ...heights.filter((_, layer) => tones[layer] !== 'previous'));
    const label = formatNumber(value);
    const half = ctx.measureText(label).width / 2;
    if (value <= max || (marks[index] ?? null) !== null || x - half < labelEnd) continue;
    ctx.fillStyle = color;
    ctx.fillText(label, x, top - 1);
    labelEnd = x + half + 4;
  }
  ctx.restore();
}
