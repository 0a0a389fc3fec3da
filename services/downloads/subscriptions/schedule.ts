/** Between two attempts at a feed that fails, at most; a longer interval of its own stands. */
const longestWaitMs = 24 * 60 * 60_000;
const firstWaitMs = 5 * 60_000;

/** When a feed is looked at next, ms since the epoch: after its interval, or later each time it fails in a row. */
export function nextCheckAt(now: number, intervalMinutes: number, failures: number): number {
  const interval = intervalMinutes * 60_000;
  if (failures === 0) return now + interval;
  const backOff = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(failures - 1, 20));
  return now + Math.max(interval, backOff);
}
