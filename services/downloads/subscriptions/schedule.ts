/** Maximum back-off of a failing feed; a longer interval of the subscription has precedence. */
const maxBackOffMs = 24 * 60 * 60_000;
const minBackOffMs = 5 * 60_000;

/**
 * Returns the time of the next check in ms since the epoch: after the interval, or later with each consecutive failure.
 */
export function getNextCheck(now: number, intervalMinutes: number, failures: number): number {
  const interval = intervalMinutes * 60_000;
  if (failures === 0) return now + interval;
  const backOff = Math.min(maxBackOffMs, minBackOffMs * 2 ** Math.min(failures - 1, 20));
  return now + Math.max(interval, backOff);
}
