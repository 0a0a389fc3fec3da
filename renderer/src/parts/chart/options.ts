import type uPlot from 'uplot';
import type { ChartColors, Tone } from './colors.ts';
import { named, paintLastName } from './axis-labels.ts';
import { linesOf, scaleOf } from './scale.ts';
import { paintWhole } from './reference-line.ts';

/** How values are drawn: one bar each, or a line through them. */
export type ChartKind = 'bars' | 'line';

/** A time in ms when something was wrong. */
export interface BadSpan {
  readonly from: number;
  readonly to: number;
}

/** What a plot asks and tells while it stands. */
interface Talk {
  /** The index under the cursor. */
  readonly point: (index: number | undefined) => void;
  readonly bad: () => readonly BadSpan[];
}

/** What is drawn, as far as uPlot needs to know. */
interface Drawn {
  readonly what: string;
  readonly unit: string;
  readonly kind: ChartKind;
  /** What each row of values is painted with, in the order of the data. */
  readonly tones: readonly Tone[];
  readonly short: (at: number) => string;
  readonly width: number;
  readonly height: number;
  /** What the values are parts of. */
  readonly whole?: number | undefined;
  /** Values between which all is as usual. */
  readonly band?: { readonly from: number; readonly to: number } | undefined;
}

const font = '12px "Inter Variable", system-ui, sans-serif';
/** A line through so many values has a dot at each. */
const mostDots = 60;
/** What the names of the scale take of the width at most, and its unit beside them. */
const [axisSize, labelSize] = [48, 18];
/** A figure of a name in the scale, and the air beside them (px). */
const [figureWidth, axisAir] = [7.2, 10];
/** So many px above the top of the scale a line at it is drawn whole, as is its end at the right. */
const lineRoom = 2;

/** uPlot's options for a chart. */
export function optionsOf(
  drawn: Drawn,
  paths: uPlot.Series.PathBuilderFactories,
  colors: ChartColors,
  { point, bad }: Talk,
): uPlot.Options {
  const { what, unit, kind, tones, short, width, height, whole, band } = drawn;
  const bars = kind === 'bars' ? paths.bars?.({ size: [0.7, 56], radius: 0.06 }) : undefined;
  /** What the scale ends at, below the room for the line. */
  const room = 1 + lineRoom / height;
  const topOf = (max: number): number => scaleOf(Math.max(max, band?.to ?? 0), height, whole).top;
  const axis = { stroke: colors.axis, font, ticks: { show: false }, labelFont: font, labelSize };
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, kind === 'line' ? lineRoom : 0, null, null],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: ({ data: [at] }, min, max) => (kind === 'bars' ? padded(at, min, max) : [min, max]) },
      y: { range: (_, __, max) => [0, topOf(max ?? 0) * room] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        splits: ({ data: [at] }) => named(kind, at, width - axisSize - labelSize),
        // The last one is written by hand: in its middle it would reach out of the plot.
        values: (_, splits) => splits.map((at, index) => (index === splits.length - 1 ? '' : short(at * 1000))),
      },
      {
        ...axis,
        label: unit === '' ? what : `${what} (${unit})`,
        grid: { stroke: colors.grid, width: 1 },
        size: (_, names) => sizeOf(names),
        splits: (_, __, ___, max) => linesOf(scaleOf(Number((max / room).toPrecision(12)), height, whole)),
        values: (_, splits) => splits.map((value) => value.toLocaleString('en')),
      },
    ],
    series: [
      {},
      ...tones.map((tone) => ({
        stroke: colors.line(tone),
        width: kind === 'line' ? 2 : 1,
        // A value between two that are missing has no line to be seen by.
        points: {
          show: kind === 'line' && (({ data }: uPlot) => data[0].length <= mostDots),
          size: 6,
          fill: colors.line(tone),
        },
        ...(bars === undefined ? {} : { fill: colors.fill(tone), paths: bars }),
      })),
    ],
    hooks: {
      drawClear: [
        (plot) => band !== undefined && paintBand(plot, band, colors.band()),
        (plot) => paintSpans(plot, bad(), colors.bad()),
      ],
      drawAxes: [
        (plot) => {
          const last = plot.data[0].at(-1);
          if (last !== undefined) paintLastName(plot, last, short(last * 1000), { font, color: colors.axis() });
        },
        (plot) => {
          if (whole === undefined || linesOf(scaleOf(whole, height, whole)).includes(whole)) return;
          const name = `${whole.toLocaleString('en')} ${unit} in all`;
          paintWhole(plot, { at: whole, name }, { font, color: colors.axis() });
        },
      ],
      setCursor: [({ cursor }) => cursor.event && point(cursor.idx ?? undefined)],
    },
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

/** Times when something was wrong, from top to bottom; a short one is still to be seen. */
function paintSpans(plot: uPlot, spans: readonly BadSpan[], color: string): void {
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  plot.ctx.fillStyle = color;
  // Filled together: where two meet it is no darker.
  plot.ctx.beginPath();
  for (const { from, to } of spans) {
    const [begin, end] = [from, to].map((at) => plot.valToPos(at / 1000, 'x', true)) as [number, number];
    const [first, last] = [Math.max(left, begin), Math.min(left + width, Math.max(end, begin + 2))];
    if (last > first) plot.ctx.rect(first, top, last - first, height);
  }
  plot.ctx.fill();
  plot.ctx.restore();
}

/** Bars have half their width beyond the first and the last moment. */
function padded(at: ArrayLike<number>, min: number, max: number): [number, number] {
  const half = at.length > 1 ? (max - min) / (at.length - 1) / 2 : 1;
  return [min - half, max + half];
}

/** The scale stands as close to the plot as its longest name lets it. */
function sizeOf(names: readonly string[] | null): number {
  if (names === null) return axisSize;
  return Math.min(axisSize, Math.ceil(Math.max(...names.map((name) => name.length)) * figureWidth) + axisAir);
}
