import * as m from '#messages/parts';
import { defineNumberFormat, formatList, formatNumber as formatPlainNumber } from '../../../../messages/format.ts';
import type { ChartKind } from './options.ts';

/** Languages differ in the space before the sign. */
const formatPercent = defineNumberFormat({ style: 'unit', unit: 'percent', maximumFractionDigits: 1 });

/** How a chart formats its values. */
interface ValueFormat {
  readonly metric: string;
  readonly unit: string;
  /** Formats a value where the number and its unit are not enough. */
  readonly formatValue: ((value: number) => string) | undefined;
  /** Returns a count with its subject. */
  readonly formatCount: ((count: number) => string) | undefined;
  /** Text for a time without a value. */
  readonly gap: string | undefined;
}

/** Value of one component of a point. */
interface Component {
  readonly name: string;
  readonly value: number | null;
}

/** Formats a value with its unit: `12 ms`. */
export function formatValueWithUnit(format: ValueFormat, value: number | null): string {
  const { unit, formatValue, gap } = format;
  if (value === null) return gap ?? m.noValue();
  if (formatValue) return formatValue(value);
  if (unit === '%') return formatPercent(value);
  const text = formatPlainNumber(value);
  return unit === '' ? text : m.valueWithUnit({ value: text, unit });
}

/** Formats the value of a point without components. A count without a unit is shown with its subject: `12 messages`. */
export function formatTotal(format: ValueFormat, value: number | null): string {
  const { metric, unit, formatValue, formatCount } = format;
  if (value === null || unit !== '' || formatValue) return formatValueWithUnit(format, value);
  return formatCount?.(value) ?? m.namedValue({ name: metric, value: formatPlainNumber(value) });
}

/** Formats the components of a point: `Delivered 12, Failed 1`. Stacked components with the value 0 are not named. */
export function formatComponents(format: ValueFormat, kind: ChartKind, components: readonly Component[]): string {
  if (components.every(({ value }) => value === null)) return format.gap ?? m.noValue();
  const named = components.filter(({ value }) => kind === 'line' || (value ?? 0) !== 0);
  if (named.length === 0) return formatTotal(format, 0);
  return formatList(
    named.map(({ name, value }) => m.namedValue({ name, value: formatValueWithUnit(format, value) })),
    'unit',
  );
}
