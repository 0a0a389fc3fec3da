/** Formats a row count: `1 row`, `about 1,800 rows`. */
export function formatRowCount(rows: number, isEstimate: boolean): string {
  return `${isEstimate ? 'about ' : ''}${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;
}
