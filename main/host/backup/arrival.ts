import * as m from '#messages/host-problems';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Problem } from '../../../services/contracts/problem.ts';
import { writeBodyToFile } from '../../../services/kit/http/body.ts';
import { readBackupInThread } from './beside.ts';

/** Name of an incomplete file, which lists omit. */
const incomingSuffix = /^\.arriving-.*\.part$/;
const dayMs = 86_400_000;

export interface ReceivedBackup {
  /** Absolute path, to be renamed. */
  readonly file: string;
  /** Creation time in ms since the epoch, also set as modification time. */
  readonly createdAt: number;
}

/**
 * Creates the folder if missing.
 * @throws Problem `backup.target` (507).
 */
export async function makeBackupFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw new Problem('backup.target', 507, () => m.backupFolderNotCreated({ folder }), { cause });
  });
}

/**
 * Writes an uploaded backup into the folder and verifies each of its files, so that a stored backup can be restored.
 * An incomplete or damaged one is deleted.
 * @throws Problem `backup.damaged` (422), `backup.target` (507).
 */
export async function receiveBackup(folder: string, incoming: Readable): Promise<ReceivedBackup> {
  await makeBackupFolder(folder);
  const file = join(folder, `.arriving-${randomUUID()}.part`);
  try {
    await written(incoming, file, folder);
    const createdAt = Date.parse((await readBackupInThread({ file })).manifest.createdAt);
    await utimes(file, new Date(createdAt), new Date(createdAt));
    return { file, createdAt };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function written(incoming: Readable, file: string, folder: string): Promise<void> {
  try {
    // A full disk causes an error anyway; backups have no other size limit.
    await writeBodyToFile(incoming, file, { maxBytes: Infinity, tooLarge: () => new RangeError('too large') });
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES'].includes(code)) throw cause;
    const isFull = ['ENOSPC', 'EDQUOT'].includes(code);
    const detail = (): string => (isFull ? m.backupFolderFull({ folder }) : m.backupFolderNotWritable({ folder }));
    throw new Problem('backup.target', 507, detail, { cause });
  }
}

/** Removes incomplete files of killed hosts after a day, since another host may use the same folder. */
export async function removeIncomplete(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => incomingSuffix.test(one))) {
    const file = join(folder, name);
    const { mtimeMs } = await stat(file);
    if (now - mtimeMs > dayMs) await rm(file, { force: true });
  }
}
