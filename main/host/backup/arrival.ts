import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Problem } from '../../../services/contracts/problem.ts';
import { writeBodyToFile } from '../../../services/kit/request-body.ts';
import { readBackupBeside } from './beside.ts';

/** How what is still on its way is named, so that no list shows it. */
const onTheWay = /^\.arriving-.*\.part$/;
const dayMs = 86_400_000;

export interface ArrivedBackup {
  /** Absolute path, to be renamed. */
  readonly file: string;
  /** When it was made, ms since the epoch; its time of change is that too. */
  readonly createdAt: number;
}

/** Makes the folder where there is none. @throws Problem `backup.target` (507). */
export async function makeBackupFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new Problem('backup.target', 507, `The folder of backups ${folder} cannot be made.`, { cause });
  });
}

/**
 * Writes a backup that comes from elsewhere into the folder and verifies each of its files, so that what is kept can be
 * restored. Of what is cut off or damaged nothing stays.
 * @throws Problem `backup.damaged` (422), `backup.target` (507).
 */
export async function receiveBackup(folder: string, incoming: Readable): Promise<ArrivedBackup> {
  await makeBackupFolder(folder);
  const file = join(folder, `.arriving-${randomUUID()}.part`);
  try {
    await written(incoming, file, folder);
    const createdAt = Date.parse((await readBackupBeside({ file })).createdAt);
    await utimes(file, new Date(createdAt), new Date(createdAt));
    return { file, createdAt };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function written(incoming: Readable, file: string, folder: string): Promise<void> {
  try {
    // A disk that is full says so itself: what a house has to keep knows no limit.
    await writeBodyToFile(incoming, file, { most: Infinity, tooLarge: () => new RangeError('too large') });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES'].includes(code)) throw cause;
    const why = ['ENOSPC', 'EDQUOT'].includes(code) ? 'has no room for this backup' : 'cannot be written to';
    throw new Problem('backup.target', 507, `The folder of backups ${folder} ${why}. Nothing was kept.`, { cause });
  }
}

/** Removes what a host that was killed left half arrived; a day old, since another one may use the same folder. */
export async function removeHalfArrived(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => onTheWay.test(one))) {
    const file = join(folder, name);
    const { mtimeMs } = await stat(file);
    if (now - mtimeMs > dayMs) await rm(file, { force: true });
  }
}
