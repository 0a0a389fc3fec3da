import { statfs } from 'node:fs/promises';
import type { ListedEntry } from '../domain/plan.ts';

const defaultPrecisionMs = 1;
const fatPrecisionMs = 2000;
/** Type of FAT in the answer of Linux. */
const linuxFat = 0x4d44;

/**
 * Returns the precision of file times at a location. FAT stores even seconds, so that a copied file seems older or newer
 * than its source by less than 2 seconds.
 *
 * Only Linux reports the kind of file system. Elsewhere a location whose times are all even seconds counts as FAT: on
 * another file system a change of the content within 2 seconds that keeps the size would then go unnoticed.
 */
export async function getTimePrecision(
  location: string,
  entries: readonly ListedEntry[],
  platform: NodeJS.Platform,
): Promise<number> {
  if (platform === 'linux') {
    const type = (await statfs(location).catch(() => undefined))?.type;
    return type === linuxFat ? fatPrecisionMs : defaultPrecisionMs;
  }
  const times = entries.flatMap(({ modifiedAt }) => modifiedAt ?? []);
  const isEven = times.length > 0 && times.every((time) => time % fatPrecisionMs === 0);
  return isEven ? fatPrecisionMs : defaultPrecisionMs;
}
