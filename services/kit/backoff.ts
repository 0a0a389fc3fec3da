/** Delays in ms that double from the first to the maximum. */
export interface ExponentialBackoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Returns the delay in ms after this number of consecutive failures, which is at least 1. */
export function getExponentialDelayMs({ firstMs, maxMs }: ExponentialBackoff, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1));
}

/** Returns the delay after this number of consecutive failures from a list; the last one applies to all further ones. */
export function getListedDelayMs(delaysMs: readonly number[], failures: number): number {
  return delaysMs[Math.min(Math.max(failures, 1), delaysMs.length) - 1] ?? 0;
}
