import { getExponentialDelayMs } from '../../kit/backoff.ts';

/** Delays of a failing feed; a longer interval of the subscription has precedence. */
const backoff = { firstMs: 5 * 60_000, maxMs: 24 * 60 * 60_000 } as const;

/**
 * Returns the time of the next check in ms since the epoch: after the interval, or later with each consecutive failure.
 */
export function getNextCheck(now: number, intervalMinutes: number, failures: number): number {
  const interval = intervalMinutes * 60_000;
  return now + (failures === 0 ? interval : Math.max(interval, getExponentialDelayMs(backoff, failures)));
}
