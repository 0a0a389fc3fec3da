import type { DataResult } from '../../../../../../services/contracts/data/api.ts';

/** Formats rows as CSV (RFC 4180): null is an unquoted empty field, an empty string is `""`. */
export function formatCsv({ columns, rows }: Pick<DataResult, 'columns' | 'rows'>): string {
  const cell = (value: string | null): string => {
    if (value === null) return '';
    return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
