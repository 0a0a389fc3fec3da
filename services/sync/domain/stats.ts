/** Totals of a job in the engine's format. */
export type Stats = Readonly<Record<string, unknown>>;

const summedKeys = [
  ...['bytes', 'checks', 'deletedDirs', 'deletes', 'errors', 'listed', 'renames', 'serverSideCopies'],
  ...['serverSideCopyBytes', 'serverSideMoveBytes', 'serverSideMoves', 'speed', 'totalBytes', 'totalChecks'],
  ...['totalTransfers', 'transferTime', 'transfers', 'elapsedTime'],
] as const;

/** Adds the totals of several jobs, such as those of one group. */
export function addStats(all: readonly Stats[]): Stats {
  const total: Record<string, unknown> = {};
  for (const key of summedKeys) total[key] = all.reduce((sum, stats) => sum + getNumber(stats, key), 0);
  const etas = all.flatMap(({ eta }) => (typeof eta === 'number' ? [eta] : []));
  total['eta'] = etas.length === 0 ? null : Math.max(...etas);
  total['fatalError'] = all.some(({ fatalError }) => fatalError === true);
  total['retryError'] = all.some(({ retryError }) => retryError === true);
  const lastError = all.findLast((stats) => typeof stats['lastError'] === 'string')?.['lastError'];
  if (lastError !== undefined) total['lastError'] = lastError;
  for (const key of ['transferring', 'checking']) {
    const list = all.flatMap((stats) => (Array.isArray(stats[key]) ? (stats[key] as unknown[]) : []));
    if (list.length > 0) total[key] = list;
  }
  return total;
}

/** Returns a numeric total; 0 if it is missing. */
export function getNumber(stats: Stats, key: string): number {
  const value = stats[key];
  return typeof value === 'number' ? value : 0;
}
