import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What is older belongs to nothing that still runs, ms. */
const oldMs = 24 * 60 * 60_000;
/** Nobody holds a lock for so long, ms: not even upkeep, which ends after an hour. */
const heldMs = 2 * 60 * 60_000;
/** Those of what puts repositories in order; while one is there git does none of it, and takes no branch away. */
const locks = [
  'packed-refs.lock',
  join('objects', 'pack', 'multi-pack-index.lock'),
  join('objects', 'info', 'commit-graph.lock'),
];

/** Removes from a repository what pushes and other work left in it that ended with a killed host. */
export async function removeLeftovers(folder: string, now: number): Promise<void> {
  for (const place of [join(folder, 'objects'), join(folder, 'objects', 'pack')]) {
    const names = await readdir(place).catch(() => []);
    for (const name of names.filter((each) => /^\.?tmp[-_]/.test(each)))
      await removeOld(join(place, name), now - oldMs);
  }
  await removeLocks(folder, now - heldMs);
}

/** Removes the locks that were last touched before a time; all of them where no git can be at work. */
export async function removeLocks(folder: string, before = Number.POSITIVE_INFINITY): Promise<void> {
  for (const lock of locks) await removeOld(join(folder, lock), before);
}

async function removeOld(path: string, before: number): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && found.mtimeMs < before) await rm(path, { recursive: true, force: true });
}
