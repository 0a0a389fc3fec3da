import * as m from '#messages/parts';
import type uPlot from 'uplot';
import { formatNumber } from '../../../../messages/format.ts';
import type { ChartColors, LayerTone } from './colors.ts';
import { getLabelledTimes, paintLastLabel } from './axis-labels.ts';
import { paintCutBars } from './cut-bars.ts';
import { markSpace, paintMarks, type Mark } from './marks.ts';
import { getGridLines, buildScale } from './scale.ts';
import { paintReferenceLine } from './reference-line.ts';

/** Type of a chart: one bar for each value, or a line through them. */
export type ChartKind = 'bars' | 'line';

/** Time span in ms with a problem. */
export interface BadSpan {
  readonly from: number;
  readonly to: number;
}

/** Callbacks of a plot. */
interface PlotCallbacks {
  /** Reports the index at the cursor. */
  readonly onPoint: (index: number | undefined) => void;
  /** Reports the first and the last index of a range that was dragged. */
  readonly onRange: (first: number, last: number) => void;
  readonly getProblemSpans: () => readonly BadSpan[];
  readonly getMarks: () => readonly (Mark | null)[];
}

/** Input of a plot. */
interface PlotInput {
  readonly metric: string;
  readonly unit: string;
  readonly kind: ChartKind;
  /** Color of each series, in the order of the data. */
  readonly tones: readonly LayerTone[];
  /** Formats a position on the axis as a short label. */
  readonly formatPosition: (position: number) => string;
  readonly width: number;
  readonly height: number;
  /** Total that the values are parts of. */
  readonly total?: number | undefined;
  /** Largest value of the scale: higher bars are cut. */
  readonly limit?: number | undefined;
  /** Range of usual values. */
  readonly band?: { readonly from: number; readonly to: number } | undefined;
  /** The plot has room for marks above its highest bar. */
  readonly hasMarks: boolean;
}

const font = '12px "Inter Variable", system-ui, sans-serif';
/** Maximum number of points for which a line has a dot at each value. */
const maxDots = 60;
/** Maximum width of the labels of the value axis, and the height of its title, in px. */
const [axisSize, labelSize] = [48, 18];
/** Width of a digit in an axis label and the padding around the label, in px. */
const [digitWidth, axisPadding] = [7.2, 10];
/** Minimum distance in px of a drag, so that a click does not zoom. */
const minDragPx = 8;
/** Widths of bars, as a share of the available width: bars of the previous period are visible behind the others. */
const [barWidth, previousBarWidth] = [0.7, 0.94];
/** Space in px above the top of the scale, so that a line at the top or at the right edge is not cut. */
const lineMargin = 2;

/** Returns the uPlot options of a chart. */
export function buildPlotOptions(
  input: PlotInput,
  paths: uPlot.Series.PathBuilderFactories,
  colors: ChartColors,
  callbacks: PlotCallbacks,
): uPlot.Options {
  const { metric, unit, kind, tones, formatPosition, width, height, total, limit, band, hasMarks } = input;
  const buildBars = (share: number) => paths.bars?.({ size: [share, 56 * (share / barWidth)], radius: 0.06 });
  const [bars, previousBars] = kind === 'bars' ? [buildBars(barWidth), buildBars(previousBarWidth)] : [];
  /** Factor between the top of the scale and the top of the plot. */
  const topFactor = 1 + lineMargin / height;
  const getTop = (max: number): number =>
    buildScale(Math.max(Math.min(max, limit ?? max), band?.to ?? 0), height, total).top;
  const axis = { stroke: colors.axis, font, ticks: { show: false }, labelFont: font, labelSize };
  return {
    width,
    height,
    legend: { show: false },
    padding: [hasMarks ? markSpace : 8, kind === 'line' ? lineMargin : 0, null, null],
    cursor: { y: false, drag: { x: true, y: false, setScale: false, dist: minDragPx }, points: { size: 8 } },
    scales: {
      x: { time: false, range: ({ data: [at] }, min, max) => (kind === 'bars' ? padRange(at, min, max) : [min, max]) },
      y: { range: (_, __, max) => [0, getTop(max ?? 0) * topFactor] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        splits: ({ data: [at] }) => getLabelledTimes(kind, at, width - axisSize - labelSize),
        // The last label is painted separately: centered, it would exceed the plot.
        values: (_, splits) => splits.map((at, index) => (index === splits.length - 1 ? '' : formatPosition(at))),
      },
      {
        ...axis,
        label: unit === '' ? metric : m.nameWithUnit({ name: metric, unit }),
        grid: { stroke: colors.grid, width: 1 },
        size: (_, labels) => getAxisSize(labels),
        splits: (_, __, ___, max) => getGridLines(buildScale(Number((max / topFactor).toPrecision(12)), height, total)),
        values: (_, splits) => splits.map((value) => formatNumber(value)),
      },
    ],
    series: [
      {},
      ...tones.map((tone) => ({
        stroke: colors.line(tone),
        width: tone === 'previous' ? (kind === 'line' ? 1.5 : 0) : kind === 'line' ? 2 : 1,
        ...(tone === 'previous' && kind === 'line' ? { dash: [5, 4] } : {}),
        // Without dots, a value between two missing ones would not be visible.
        points: {
          show: kind === 'line' && tone !== 'previous' && (({ data }: uPlot) => data[0].length <= maxDots),
          size: 6,
          fill: colors.line(tone),
        },
        ...(bars === undefined
          ? {}
          : { fill: colors.fill(tone), paths: tone === 'previous' ? (previousBars ?? bars) : bars }),
      })),
    ],
    hooks: buildHooks(input, colors, callbacks),
  };
}

/** Returns the hooks that paint bands, problem spans, marks and labels, and report the hovered point and the zoom. */
function buildHooks(
  { unit, tones, formatPosition, height, total, limit, band }: PlotInput,
  colors: ChartColors,
  { onPoint, onRange, getProblemSpans, getMarks }: PlotCallbacks,
): uPlot.Hooks.Arrays {
  return {
    drawClear: [
      (plot) => band !== undefined && paintBand(plot, band, colors.band()),
      (plot) => paintSpans(plot, getProblemSpans(), colors.bad()),
    ],
    drawAxes: [
      (plot) => {
        const last = plot.data[0].at(-1);
        if (last !== undefined) paintLastLabel(plot, last, formatPosition(last), { font, color: colors.axis() });
      },
      (plot) => {
        if (total === undefined || getGridLines(buildScale(total, height, total)).includes(total)) return;
        const name = m.totalLine({ total, unit });
        paintReferenceLine(plot, { value: total, name }, { font, color: colors.axis() });
      },
    ],
    draw: [
      (plot) => paintMarks(plot, getMarks(), colors),
      (plot) => limit !== undefined && paintCutBars(plot, { marks: getMarks(), tones, font, color: colors.axis() }),
    ],
    setSelect: [
      (plot) => {
        const { left, width } = plot.select;
        if (width < minDragPx) return;
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        onRange(plot.posToIdx(left), plot.posToIdx(left + width));
      },
    ],
    setCursor: [({ cursor }) => cursor.event && onPoint(cursor.idx ?? undefined)],
  };
}

function paintBand(plot: uPlot, { from, to }: { readonly from: number; readonly to: number }, color: string): void {
  const { left, width } = plot.bbox;
  const [high, low] = [plot.valToPos(to, 'y', true), plot.valToPos(from, 'y', true)];
  plot.ctx.save();
  plot.ctx.fillStyle = color;
  plot.ctx.fillRect(left, high, width, low - high);
  plot.ctx.restore();
}

/** Paints time spans with a problem over the full height, with a minimum width so that short ones are visible. */
function paintSpans(plot: uPlot, spans: readonly BadSpan[], color: string): void {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  plot.ctx.fillStyle = color;
  // All spans are filled in one path, so that overlaps are not darker.
  plot.ctx.beginPath();
  for (const { from, to } of spans) {
    const [begin, end] = [from, to].map((at) => plot.valToPos(at / 1000, 'x', true)) as [number, number];
    const [first, last] = [Math.max(left, begin), Math.min(left + width, Math.max(end, begin + 2))];
    if (last > first) plot.ctx.rect(first, top, last - first, height);
  }
  plot.ctx.fill();
  plot.ctx.restore();
}

/** Adds half the width of a bar before the first and after the last point. */
function padRange(at: ArrayLike<number>, min: number, max: number): [number, number] {
  const half = at.length > 1 ? (max - min) / (at.length - 1) / 2 : 1;
  return [min - half, max + half];
}

/** Returns the width of the value axis for its longest label. */
function getAxisSize(labels: readonly string[] | null): number {
  if (labels === null) return axisSize;
  return Math.min(axisSize, Math.ceil(Math.max(...labels.map((name) => name.length)) * digitWidth) + axisPadding);
}
