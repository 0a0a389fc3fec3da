import type { Random } from '../contracts/service.ts';

/** Digits of a time in ms in base 36; enough until the year 2059, and then one more. */
const timeDigits = 8;

/**
 * An id of 20 letters and digits that sorts by its time, in ms since the epoch: what is written at one moment lies side
 * by side in every index, where ids without order would touch another page of each for every row.
 */
export function createSortableId(random: Random, time: number): string {
  const prefix = Math.max(0, time).toString(36).padStart(timeDigits, '0');
  return prefix + random.text(20 - prefix.length);
}
