import * as m from '#messages/parts';
import { getFill, getStroke, problemFill, usualRangeFill, type LayerTone, type Tone } from './colors.ts';
import type { MarkShape } from './marks.ts';
import type { ChartKind } from './options.ts';

type Values = readonly (number | null)[];

/** Values that are painted in one color. */
export interface Layer {
  readonly tone: LayerTone;
  readonly values: Values;
}

/** Component of the values of a chart. */
interface Series extends Layer {
  readonly name: string;
  readonly tone: Tone;
}

/** Entry of the legend; one with a shape explains a mark. */
export interface LegendEntry {
  readonly name: string;
  readonly fill: string;
  readonly edge: string;
  readonly shape?: MarkShape;
  readonly isDashed?: boolean;
}

/**
 * Returns the painted layers, the rearmost first: the previous period, then the series. Bars are stacked: the largest
 * sum is painted first, so that those that are stacked below cover it.
 */
export function buildLayers(
  kind: ChartKind,
  values: Values,
  { series, previous }: { readonly series: readonly Series[]; readonly previous: Values | undefined },
): readonly Layer[] {
  const before: Layer[] = previous === undefined ? [] : [{ tone: 'previous', values: previous }];
  if (series.length === 0) return [...before, { tone: 'sea', values }];
  if (kind === 'line') return [...before, ...series];
  const stacked = series.map(({ tone }, last) => ({
    tone,
    values: values.map((_, index) =>
      series.slice(0, last + 1).reduce((sum, each) => sum + (each.values[index] ?? 0), 0),
    ),
  }));
  return [...before, ...stacked.toReversed()];
}

/** Returns the legend of the colors and marks; a single color needs none, and series without a value have none. */
export function buildLegend(
  kind: ChartKind,
  series: readonly Series[],
  extras: {
    /** Difference to the previous period, possibly empty; undefined without a comparison. */
    readonly change: string | undefined;
    readonly hasBand: boolean;
    /** Name of the spans with a problem. */
    readonly bad: string | undefined;
    readonly marks: readonly { readonly name: string; readonly tone: Tone; readonly shape: MarkShape }[];
  },
): readonly LegendEntry[] {
  const { change, hasBand, bad, marks } = extras;
  const named = series.filter(({ values }) => values.some((value) => kind === 'line' || (value ?? 0) !== 0));
  return [
    ...(named.length < 2 || marks.length > 0 ? [] : named).map(({ name, tone }) => ({
      name,
      fill: getFill(tone),
      edge: getStroke(tone),
    })),
    ...marks.map(({ name, tone, shape }) => ({ name, fill: getStroke(tone), edge: getStroke(tone), shape })),
    ...(hasBand ? [{ name: m.usual(), fill: usualRangeFill, edge: getStroke('sea') }] : []),
    ...(bad === undefined ? [] : [{ name: bad, fill: problemFill, edge: getStroke('bad') }]),
    ...(change === undefined
      ? []
      : [
          {
            name: change === '' ? m.previousPeriod() : m.previousPeriodChange({ change }),
            fill: getFill('previous'),
            edge: getStroke('previous'),
            isDashed: kind === 'line',
          },
        ]),
  ];
}
