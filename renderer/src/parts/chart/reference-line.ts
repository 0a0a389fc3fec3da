import type uPlot from 'uplot';

/** Distance of the label from its line and height of the label, in px. */
const [gap, labelHeight] = [4, 12];

/**
 * Paints the total that the values are parts of as a dashed line with a label, where the scale has no grid line for
 * it.
 */
export function paintReferenceLine(
  plot: uPlot,
  line: { readonly value: number; readonly name: string },
  { font, color }: { readonly font: string; readonly color: string },
): void {
  const { ctx, bbox, width, scales } = plot;
  const ratio = ctx.canvas.width / width;
  const [y, right] = [plot.valToPos(line.value, 'y', true), bbox.left + bbox.width];
  if (line.value > (scales['y']?.max ?? 0)) return;
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
  // The label is above its line, unless it would exceed the plot there.
  const isAbove = y - bbox.top >= (gap + labelHeight) * ratio;
  ctx.textBaseline = isAbove ? 'bottom' : 'top';
  ctx.fillText(line.name, right, y + (isAbove ? -gap : gap) * ratio);
  ctx.restore();
}
