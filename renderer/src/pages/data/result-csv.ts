import type { DataResult } from '../../../../services/contracts/data/api.ts';

/** Rows as a CSV file (RFC 4180): null is nothing, an empty text is `""`. */
export function csvOf({ columns, rows }: Pick<DataResult, 'columns' | 'rows'>): string {
  const cell = (value: string | null): string => {
    if (value === null) return '';
    return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
