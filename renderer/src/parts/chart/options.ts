import type uPlot from 'uplot';
import type { ChartColors, Tone } from './colors.ts';
import { roundTimes } from './times.ts';

/** How values are drawn: one bar each, or a line through them. */
export type ChartKind = 'bars' | 'line';

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
  /** Values between which all is as usual. */
  readonly band?: { readonly from: number; readonly to: number } | undefined;
}

const font = '12px "Inter Variable", system-ui, sans-serif';
/** So many px a name below the axis takes. */
const nameWidth = 64;
/** A line through so many values has a dot at each. */
const mostDots = 60;

/** uPlot's options for a chart. `point` gets the index under the cursor. */
export function optionsOf(
  drawn: Drawn,
  paths: uPlot.Series.PathBuilderFactories,
  colors: ChartColors,
  point: (index: number | undefined) => void,
): uPlot.Options {
  const { what, unit, kind, tones, short, width, height, band } = drawn;
  const bars = kind === 'bars' ? paths.bars?.({ size: [0.7, 56], radius: 0.06 }) : undefined;
  const axis = { stroke: colors.axis, font, ticks: { show: false }, labelFont: font, labelSize: 18 };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: ({ data: [at] }, min, max) => (kind === 'bars' ? padded(at, min, max) : [min, max]) },
      y: { range: (_, __, max) => [0, top(Math.max(max ?? 0, band?.to ?? 0))] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        splits: ({ data: [at] }) => named(kind, at, width),
        values: (_, splits) => splits.map((at) => short(at * 1000)),
      },
      {
        ...axis,
        label: unit === '' ? what : `${what} (${unit})`,
        grid: { stroke: colors.grid, width: 1 },
        size: 48,
        incrs: steps,
        values: (_, splits) => splits.map((value) => value.toLocaleString('en')),
      },
    ],
    series: [
      {},
      ...tones.map((tone) => ({
        stroke: colors.line(tone),
        width: kind === 'line' ? 2 : 1,
        // A value between two that are missing has no line to be seen by.
        points: { show: kind === 'line' && (({ data }: uPlot) => data[0].length <= mostDots), size: 5 },
        ...(bars === undefined ? {} : { fill: colors.fill(tone), paths: bars }),
      })),
    ],
    hooks: {
      drawClear: [(plot) => band !== undefined && paintBand(plot, band, colors.band())],
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

/** Distances of the horizontal lines: whole numbers, as counts and milliseconds have no halves. */
const steps = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);

function top(max: number | null): number {
  return Math.max(1, (max ?? 0) * 1.1);
}

/** Bars have half their width beyond the first and the last moment. */
function padded(at: ArrayLike<number>, min: number, max: number): [number, number] {
  const half = at.length > 1 ? (max - min) / (at.length - 1) / 2 : 1;
  return [min - half, max + half];
}

/** Moments that have a name: of a line round ones; of bars those of values, as a name stands below a bar, never between two. */
function named(kind: ChartKind, at: ArrayLike<number>, width: number): number[] {
  const round = kind === 'line' ? roundTimes(at[0] ?? 0, at[at.length - 1] ?? 0, width / nameWidth) : undefined;
  return round === undefined ? every(at, Math.ceil((at.length * nameWidth) / width)) : [...round];
}

function every(at: ArrayLike<number>, distance: number): number[] {
  const last = at.length - 1;
  return Array.from(at).filter((_, index) => (last - index) % distance === 0);
}
