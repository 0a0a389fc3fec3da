import type uPlot from 'uplot';

/** Its name stands so many px from its line, and is so high. */
const [gap, nameHeight] = [4, 12];

/** What the values are parts of: a broken line with its name, where the scale has no line of its own for it. */
export function paintWhole(
  plot: uPlot,
  whole: { readonly at: number; readonly name: string },
  { font, color }: { readonly font: string; readonly color: string },
): void {
  const { ctx, bbox, width, scales } = plot;
  const ratio = ctx.canvas.width / width;
  const [y, right] = [plot.valToPos(whole.at, 'y', true), bbox.left + bbox.width];
  if (whole.at > (scales['y']?.max ?? 0)) return;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = ratio;
  ctx.setLineDash([4 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(right, y);
  ctx.stroke();
  ctx.font = font.replace(/^\d+/, (size) => String(Number(size) * ratio));
  ctx.textAlign = 'right';
  // Above its line, unless it would leave the plot there.
  const above = y - bbox.top >= (gap + nameHeight) * ratio;
  ctx.textBaseline = above ? 'bottom' : 'top';
  ctx.fillText(whole.name, right, y + (above ? -gap : gap) * ratio);
  ctx.restore();
}
