import type { DataColumn } from '../../../../services/contracts/data/rows.ts';

type Named = Pick<DataColumn, 'type' | 'isKey' | 'choices'>;

/** The lower, the more it tells a person which row that is. */
function rankOf({ type, isKey, choices }: Named): number {
  if (/^(?:uuid|jsonb?|bytea|tsvector)/.test(type) || type.endsWith('[]')) return 3;
  if (isKey) return 0;
  return choices.length > 0 || /^(?:text|character)/.test(type) ? 1 : 2;
}

/** The places of columns as a phone shows them, which has room for two or three: the key, words, then the rest. */
export function orderOnPhone(columns: readonly Named[]): readonly number[] {
  return columns
    .map((column, at) => ({ at, rank: rankOf(column) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ at }) => at);
}
