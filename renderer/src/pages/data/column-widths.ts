import type { DataColumn } from '../../../../services/contracts/data/rows.ts';

/** In rem, by what a column holds: a number needs less room than a time. On a phone less has to do. */
const widths: readonly (readonly [RegExp, number, number])[] = [
  [/^(?:smallint|integer|bigint|boolean|real|double)/, 6, 4],
  [/^timestamp/, 13, 11],
  [/^(?:json|bytea|tsvector)|\[\]$/, 12, 10],
];
const usual = [9, 7] as const;
const most = 16;

/** How wide a column is at least, in rem: as its values and its name want it. */
export function widthOf({ name, type, isKey }: Pick<DataColumn, 'name' | 'type' | 'isKey'>, isPhone: boolean): number {
  const [, onDesk, onPhone] = widths.find(([pattern]) => pattern.test(type)) ?? [undefined, ...usual];
  const called = name.length * 0.58 + (isKey ? 3.5 : 2);
  return Math.min(most, Math.max(isPhone ? onPhone : onDesk, called));
}
