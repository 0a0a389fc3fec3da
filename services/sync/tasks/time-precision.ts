import { statfs } from 'node:fs/promises';
import type { ListedEntry } from '../domain/plan.ts';

const defaultPrecisionMs = 1;
/** Precisions of FAT, HFS+ and exFAT. */
const coarsePrecisionsMs = [2000, 1000, 10] as const;
/** File systems in the answer of Linux with their precision; undefined where another computer or program stores them. */
const linuxPrecisionsMs: ReadonlyMap<number, number | undefined> = new Map([
  [0x4d44, 2000], // FAT
  [0x2011bab0, 10], // exFAT
  [0x482b, 1000], // HFS+
  [0x65735546, undefined], // FUSE
  [0x6969, undefined], // NFS
  [0xff534d42, undefined], // CIFS
  [0xfe534d42, undefined], // SMB
]);

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
    const type = (await statfs(location).catch(() => undefined))?.type ?? 0;
    const precisionMs = linuxPrecisionsMs.get(type);
    if (precisionMs !== undefined || !linuxPrecisionsMs.has(type)) return precisionMs ?? defaultPrecisionMs;
  }
  return estimatePrecision(entries.flatMap(({ modifiedAt }) => modifiedAt ?? []));
}

function estimatePrecision(times: readonly number[]): number {
  if (times.length === 0) return defaultPrecisionMs;
  const isMultiple = (precisionMs: number): boolean => times.every((time) => time % precisionMs === 0);
  return coarsePrecisionsMs.find((precisionMs) => isMultiple(precisionMs)) ?? defaultPrecisionMs;
}
