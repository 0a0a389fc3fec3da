import type { Tone } from './colors.ts';
import type { Mark, MarkShape } from './marks.ts';
import type { BadSpan, ChartKind } from './options.ts';
import type { Moment } from './times.ts';

/** Properties of a chart. */
export interface ChartProps {
  /** Counted or measured quantity, such as "Messages": the label of the axis and of the table column. */
  metric: string;
  /** Unit of the values, such as `ms`; empty for a count. */
  unit?: string;
  /** Formats a value where the number and its unit are not enough. */
  formatValue?: (value: number) => string;
  /** Returns a count with its subject, such as "12 messages". Charts of counts pass it; others have a unit. */
  formatCount?: (count: number) => string;
  /** Text for a time without a value. */
  gap?: string;
  /** Description of the chart for screen readers. */
  summary: string;
  /** Title of the table. */
  label: string;
  kind: ChartKind;
  /** Times in ms, oldest first, with their values; null for a missing value. */
  points: readonly { readonly at: number; readonly value: number | null }[];
  /**
   * Components of the values, each with one value for each point. Bars are stacked in this order from below, lines
   * are drawn next to each other. `points` then has the sums, or the values of the first series.
   */
  series?: readonly { readonly name: string; readonly tone: Tone; readonly values: readonly (number | null)[] }[];
  /** Values of the period before, one for each point; null where none is stored. */
  previous?: readonly (number | null)[] | undefined;
  /** Results of the points, and what their marks mean. */
  marks?:
    | {
        readonly values: readonly (Mark | null)[];
        readonly legend: readonly { readonly name: string; readonly tone: Tone; readonly shape: MarkShape }[];
        /** Returns the result of a point in words. */
        readonly format: (index: number) => string;
      }
    | undefined;
  /** Returns the path of the item of a point, which a click on it or Enter opens. */
  href?: ((index: number) => string) | undefined;
  /** `even`: the points have the same distance, such as runs that did not start regularly. */
  spacing?: 'time' | 'even';
  /** Formats a time as a short label below the axis. */
  formatShort: (at: number) => string;
  /**
   * Granularity of the points: the title of the first table column, and the format of times there and above the
   * chart.
   */
  moment: Moment;
  /** The newest value is already shown next to the title: only a selected value is shown above the plot. */
  hideLatest?: boolean;
  /** Height of the plot in px. */
  height?: number;
  /** Total that the values are parts of, marked by a reference line. */
  total?: number | undefined;
  /** Largest value of the scale: higher bars are cut and have their value above them. */
  limit?: number | undefined;
  /** Range of usual values, drawn as a band behind the values. */
  bandFrom?: number | undefined;
  bandTo?: number | undefined;
  /** Time spans in ms with a problem, drawn behind the values, and their name. */
  bad?: { readonly name: string; readonly spans: readonly BadSpan[] } | undefined;
}
