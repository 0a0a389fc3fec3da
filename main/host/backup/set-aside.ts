import { renameSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SetAsideData } from '../../../services/contracts/control/backups.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { removingPrefix, replacedPrefix } from './archive.ts';

/** A name for what a restore replaces at `now`, in ms; {@link listSetAside} reads the time out of it again. */
export function setAsideName(now: number): string {
  return replacedPrefix + new Date(now).toISOString().replace(/[:.]/g, '-');
}

/** What restores have replaced, newest first. */
export async function listSetAside(dataDir: string): Promise<readonly SetAsideData[]> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(replacedPrefix));
  return names
    .sort()
    .reverse()
    .map((name) => ({ name, createdAt: replacedAt(name) }));
}

/** @throws Problem `backup.unknown` where the list does not show it: a name can lead nowhere else. */
export async function setAsidePath(dataDir: string, name: string): Promise<string> {
  if ((await listSetAside(dataDir)).some((each) => each.name === name)) return join(dataDir, name);
  throw new Problem('backup.unknown', 404, 'This is not there any more.');
}

/** Takes a folder off the list in one step, so that it can be removed. @returns where it is now. */
export function unlist(dataDir: string, former: string): string {
  const leaving = join(dataDir, removingPrefix + basename(former));
  renameSync(former, leaving);
  return leaving;
}

/** Removes what a removal that was cut off has left. */
export async function removeLeftovers(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(removingPrefix));
  for (const name of names) await rm(join(dataDir, name), { recursive: true, force: true });
}

function replacedAt(name: string): number {
  const time = name.slice(replacedPrefix.length).replace(/T(\d\d)-(\d\d)-(\d\d)-/, 'T$1:$2:$3.');
  // Somebody may have renamed the folder.
  return Date.parse(time) || 0;
}
