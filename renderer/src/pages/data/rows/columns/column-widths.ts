import type { DataColumn } from '../../../../../../services/contracts/data/rows.ts';

/** Minimum widths in rem by column type, on large screens and on phones. */
const widths: readonly (readonly [RegExp, number, number])[] = [
  [/^(?:smallint|integer|bigint|boolean|real|double)/, 6, 4],
  [/^timestamp/, 13, 11],
  [/^(?:json|bytea|tsvector)|\[\]$/, 12, 10],
];
const defaultWidth = [9, 7] as const;
const maxWidth = 16;

/** Returns the minimum width of a column in rem, based on its type and name. */
export function getColumnWidth(
  { name, type, isKey }: Pick<DataColumn, 'name' | 'type' | 'isKey'>,
  isPhone: boolean,
): number {
  const [, desktopWidth, phoneWidth] = widths.find(([pattern]) => pattern.test(type)) ?? [undefined, ...defaultWidth];
  // The name is followed by the button of the column, and by an icon for a key.
  const nameWidth = name.length * 0.58 + (isPhone ? 4 : 3.25) + (isKey ? 1.5 : 0);
  return Math.min(maxWidth, Math.max(isPhone ? phoneWidth : desktopWidth, nameWidth));
}
