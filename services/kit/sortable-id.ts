import type { Random } from '../contracts/service.ts';

/** Digits of a time in ms in base 36; sufficient until the year 2059, then one more. */
const timeDigits = 8;

/**
 * Returns an id of 20 letters and digits that sorts by time (ms since the epoch). Rows written at the same time are
 * adjacent in every index, while random ids would touch a different page for each row.
 */
export function createSortableId(random: Random, time: number): string {
  const prefix = Math.max(0, time).toString(36).padStart(timeDigits, '0');
  return prefix + random.text(20 - prefix.length);
}
