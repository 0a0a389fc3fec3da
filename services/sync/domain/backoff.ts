import { getListedDelayMs } from '../../kit/backoff.ts';

const minuteMs = 60_000;
const delaysMs = [1, 5, 15, 60].map((minutes) => minutes * minuteMs);

/** Returns the delay in milliseconds before the next attempt, after this number of consecutive failures. */
export function getRetryDelayMs(failures: number): number {
  return getListedDelayMs(delaysMs, failures);
}
