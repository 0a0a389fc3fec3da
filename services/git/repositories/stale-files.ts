import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Minimum age of a temporary file that no running process can use, ms. */
const oldMs = 24 * 60 * 60_000;
/** Maximum age of a lock that may be in use, ms. Maintenance ends after an hour. */
const heldMs = 2 * 60 * 60_000;
/** Locks of maintenance commands. A stale lock blocks maintenance and the deletion of branches. */
const locks = [
  'packed-refs.lock',
  join('objects', 'pack', 'multi-pack-index.lock'),
  join('objects', 'info', 'commit-graph.lock'),
];

/** Removes temporary files and locks that interrupted processes left in a repository. */
export async function removeLeftovers(folder: string, now: number): Promise<void> {
  for (const place of [join(folder, 'objects'), join(folder, 'objects', 'pack')]) {
    const names = await readdir(place).catch(() => []);
    for (const name of names.filter((each) => /^\.?tmp[-_]/.test(each)))
      await removeOld(join(place, name), now - oldMs);
  }
  await removeLocks(folder, now - heldMs);
}

/** Removes locks that are older than a timestamp. Without a timestamp no git process may be running. */
export async function removeLocks(folder: string, before = Number.POSITIVE_INFINITY): Promise<void> {
  for (const lock of locks) await removeOld(join(folder, lock), before);
}

async function removeOld(path: string, before: number): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && found.mtimeMs < before) await rm(path, { recursive: true, force: true });
}
