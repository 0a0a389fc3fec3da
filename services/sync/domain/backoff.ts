const minute = 60_000;
const pauses = [1, 5, 15, 60].map((minutes) => minutes * minute);

/** The pause before the next try, ms, after so many failures in a row. */
export function pauseAfter(failures: number): number {
  return pauses[Math.min(Math.max(failures, 1), pauses.length) - 1] ?? minute;
}
