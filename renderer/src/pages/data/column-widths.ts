import type { DataColumn } from '../../../../services/contracts/data/rows.ts';

/** In rem, by what a column holds: a number needs less room than a time. */
const widths: readonly (readonly [RegExp, number])[] = [
  [/^(?:smallint|integer|bigint|boolean|real|double)/, 6],
  [/^timestamp/, 14],
  [/^(?:json|bytea|tsvector)|\[\]$/, 12],
];
const usual = 9;
const most = 16;

/** How wide a column is at least, in rem: as its values and its name want it. */
export function widthOf({ name, type, isKey }: Pick<DataColumn, 'name' | 'type' | 'isKey'>): number {
  const held = widths.find(([pattern]) => pattern.test(type))?.[1] ?? usual;
  const called = name.length * 0.58 + (isKey ? 3.5 : 2);
  return Math.min(most, Math.max(held, called));
}
