import * as m from '#messages/host-problems';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { moveFolderSync, removeTree } from '../../../services/kit/platform/file-replacement.ts';
import type { SetAsideData } from '../../../services/contracts/control/backups.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { removingPrefix, replacedPrefix } from './archive.ts';

/** Returns a name for data that a restore replaces at `now` (ms); {@link listSetAside} parses the time. */
export function setAsideName(now: number): string {
  return replacedPrefix + new Date(now).toISOString().replace(/[:.]/g, '-');
}

/** Lists the data that restores replaced, newest first. */
export async function listSetAside(dataDir: string): Promise<readonly SetAsideData[]> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(replacedPrefix));
  return names
    .sort()
    .reverse()
    .map((name) => ({ name, createdAt: replacedAt(name) }));
}

/** @throws Problem `backup.unknown` unless the list contains it, so that a name cannot leave the folder. */
export async function setAsidePath(dataDir: string, name: string): Promise<string> {
  if ((await listSetAside(dataDir)).some((each) => each.name === name)) return join(dataDir, name);
  throw new Problem('backup.unknown', 404, m.savedDataMissing());
}

/**
 * Renames a folder so that it is no longer listed and can be removed.
 * @returns the new path
 */
export function removeFromList(dataDir: string, formerFolder: string): string {
  const leaving = join(dataDir, removingPrefix + basename(formerFolder));
  moveFolderSync(formerFolder, leaving);
  return leaving;
}

/** Removes the remains of an interrupted removal. */
export async function removeLeftovers(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(removingPrefix));
  for (const name of names) await removeTree(join(dataDir, name));
}

function replacedAt(name: string): number {
  const time = name.slice(replacedPrefix.length).replace(/T(\d\d)-(\d\d)-(\d\d)-/, 'T$1:$2:$3.');
  // The folder may have been renamed manually.
  return Date.parse(time) || 0;
}
