import { defineNumberFormat } from '../../../../messages/format.ts';
import type { ChartKind } from './options.ts';
import type { Moment } from './times.ts';

type Values = readonly (number | null)[];

const formatPercent = defineNumberFormat({ style: 'percent', signDisplay: 'exceptZero', maximumFractionDigits: 0 });

/** Checks that a previous period has values that can be compared: stored ones, and not only zeros. */
export function isComparable(previous: Values): boolean {
  return previous.some((value) => value !== null && value !== 0);
}

/**
 * Formats the difference to the previous period as `+12%`: of the sum of bars, or of the average of a line. Only points
 * with a value in both periods count. The last bar of a calendar unit is left out, because it is still growing.
 * Returns an empty string without a comparable value.
 */
export function formatChange(
  current: Values,
  previous: Values,
  { kind, moment }: { readonly kind: ChartKind; readonly moment: Moment },
): string {
  const end = kind === 'bars' && moment !== 'Time' ? -1 : undefined;
  const pairs = current.slice(0, end).flatMap((value, index) => {
    const before = previous[index] ?? null;
    return value === null || before === null ? [] : [{ value, before }];
  });
  const total = pairs.reduce((sum, { before }) => sum + before, 0);
  if (total === 0) return '';
  return formatPercent((pairs.reduce((sum, { value }) => sum + value, 0) - total) / total);
}

/**
 * Finds the value of the previous period for each point: the nearest one to the same moment of that period, within a
 * tolerance. Times are in ms; both lists are in ascending order.
 */
export function alignPrevious(
  points: readonly { readonly at: number }[],
  previous: readonly { readonly at: number; readonly value: number | null }[],
  { offset, tolerance }: { readonly offset: number; readonly tolerance: number },
): (number | null)[] {
  let index = 0;
  return points.map(({ at }) => {
    const target = at - offset;
    const distance = (candidate: number): number =>
      Math.abs((previous[candidate]?.at ?? Number.POSITIVE_INFINITY) - target);
    while (distance(index + 1) <= distance(index) && index + 1 < previous.length) index += 1;
    return distance(index) <= tolerance ? (previous[index]?.value ?? null) : null;
  });
}
