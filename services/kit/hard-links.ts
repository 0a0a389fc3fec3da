import { constants, type BigIntStats } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';

/**
 * Error codes of file systems without hard links, or with too many of them for one file. Windows reports EISDIR for FAT32
 * and exFAT, as it maps "invalid function" to that code; macOS reports ENOTSUP.
 */
const codes: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EISDIR', 'EMLINK', 'EXDEV']);

/** Returns whether a hard link failed because the file system cannot create it. */
export function lacksHardLinks(error: unknown): boolean {
  return error instanceof Error && 'code' in error && codes.has(error.code);
}

/**
 * Returns whether two paths lead to one file. The numbers of files on Windows do not fit into a double; file systems
 * that have none report 0 for every file.
 */
export function isSameFile(first: BigIntStats, second: BigIntStats): boolean {
  return first.ino !== 0n && first.ino === second.ino && first.dev === second.dev;
}

/**
 * Gives a file a second name, or copies it where that is impossible. An existing target is never replaced.
 * @throws Error with the code EEXIST when the target exists.
 */
export async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (!lacksHardLinks(error)) throw error;
    await copyFile(source, target, constants.COPYFILE_EXCL).catch(async (cause: NodeJS.ErrnoException) => {
      // An incomplete copy, for instance on a full disk, must not look like the file.
      if (cause.code !== 'EEXIST') await rm(target, { force: true });
      throw cause;
    });
  }
}
