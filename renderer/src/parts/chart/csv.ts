import type { Moment } from './times.ts';

/** Columns of a chart's table. */
interface ChartRows {
  readonly points: readonly { readonly at: number }[];
  readonly columns: readonly { readonly title: string; readonly values: readonly (number | null)[] }[];
}

/**
 * Formats the values of a chart as CSV (RFC 4180), with numbers in full precision. Days and months are local dates such
 * as `2026-11-21`, other times are in UTC (ISO 8601).
 */
export function formatChartCsv(title: string, moment: Moment, { points, columns }: ChartRows): string {
  const lines = [
    [title, ...columns.map((column) => column.title)],
    ...points.map(({ at }, row) => [
      formatIsoTime(at, moment),
      ...columns.map(({ values }) => String(values[row] ?? '')),
    ]),
  ];
  return lines.map((line) => `${line.map(quote).join(',')}\r\n`).join('');
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function formatIsoTime(at: number, moment: Moment): string {
  const date = new Date(at);
  if (moment === 'Hour' || moment === 'Time') return date.toISOString();
  const two = (value: number): string => String(value).padStart(2, '0');
  const month = `${String(date.getFullYear())}-${two(date.getMonth() + 1)}`;
  return moment === 'Month' ? month : `${month}-${two(date.getDate())}`;
}
