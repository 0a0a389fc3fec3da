const minute = 60_000;
const pauses = [1, 5, 15, 60].map((minutes) => minutes * minute);

/** Returns the delay in milliseconds before the next attempt, after this number of consecutive failures. */
export function pauseAfter(failures: number): number {
  return pauses[Math.min(Math.max(failures, 1), pauses.length) - 1] ?? minute;
}
