import type { DataColumn } from '../../../../../../services/contracts/data/rows.ts';

type OrderedColumn = Pick<DataColumn, 'type' | 'isKey' | 'choices'>;

/** Returns a rank: columns with a lower rank identify the row better. */
function getRank({ type, isKey, choices }: OrderedColumn): number {
  if (/^(?:uuid|jsonb?|bytea|tsvector)/.test(type) || type.endsWith('[]')) return 3;
  if (isKey) return 0;
  return choices.length > 0 || /^(?:text|character)/.test(type) ? 1 : 2;
}

/** Returns column indexes in the order for phones, which show two or three columns: key, text, then the rest. */
export function getPhoneColumnOrder(columns: readonly OrderedColumn[]): readonly number[] {
  return columns
    .map((column, index) => ({ at: index, rank: getRank(column) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ at: index }) => index);
}
