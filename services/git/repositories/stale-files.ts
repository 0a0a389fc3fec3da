import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { isReferenceName } from '../domain/names.ts';
import type { RefChange } from '../domain/ref-change.ts';

/** Minimum age of a temporary file that no running process can use, ms. */
const minAgeMs = 24 * 60 * 60_000;
/** Maximum age of a lock that may be in use, ms. Maintenance ends after an hour. */
const maxLockAgeMs = 2 * 60 * 60_000;
/** Locks of maintenance commands. A stale lock blocks maintenance and the deletion of branches. */
const locks = [
  'packed-refs.lock',
  join('objects', 'pack', 'multi-pack-index.lock'),
  join('objects', 'info', 'commit-graph.lock'),
];

/** Removes temporary files and locks that interrupted processes left in a repository. */
export async function removeStaleFiles(folder: string, now: number): Promise<void> {
  for (const directory of [folder, join(folder, 'objects'), join(folder, 'objects', 'pack')]) {
    const names = await readdir(directory).catch(() => []);
    for (const name of names.filter((each) => /^(?:\.?tmp[-_]|homeport-index-)/.test(each)))
      await removeIfOlder(join(directory, name), now - minAgeMs);
  }
  await removeLocks(folder, now - maxLockAgeMs);
}

/** Removes locks that are older than a timestamp. Without a timestamp no git process may be running. */
export async function removeLocks(folder: string, before = Number.POSITIVE_INFINITY): Promise<void> {
  for (const lock of locks) await removeIfOlder(join(folder, lock), before);
}

/** Returns whether a repository has locks of maintenance commands. */
export async function hasLocks(folder: string): Promise<boolean> {
  const results = await Promise.all(locks.map((lock) => stat(join(folder, lock)).catch(() => undefined)));
  return results.some((info) => info !== undefined);
}

/** Removes locks of references that are older than a timestamp. They would block all later pushes. */
export async function removeReferenceLocks(
  folder: string,
  changes: readonly Pick<RefChange, 'ref'>[],
  before: number,
): Promise<void> {
  // The names come from clients, and git may not have checked them.
  const refs = changes.map(({ ref }) => ref).filter((ref) => ref.startsWith('refs/') && isReferenceName(ref));
  for (const name of ['HEAD', 'packed-refs', ...refs]) await removeIfOlder(join(folder, `${name}.lock`), before);
}

async function removeIfOlder(path: string, before: number): Promise<void> {
  const info = await stat(path).catch(() => undefined);
  if (info !== undefined && info.mtimeMs < before) await removeTree(path);
}
