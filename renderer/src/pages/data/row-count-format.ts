import * as m from '#messages/data';

/** Formats a row count: `1 row`, `about 1,800 rows`. */
export function formatRowCount(count: number, isEstimate: boolean): string {
  return isEstimate ? m.rowEstimate({ count }) : m.rowCount({ count });
}
