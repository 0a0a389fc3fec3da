import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import { writeBodyToFile } from '../../kit/request-body.ts';
import { readBackup, type Holding } from './backup.ts';
import { openKuma } from './kuma-reader.ts';

/** Allows for years of history of thousands of monitors. */
const largestDatabase = 2 * 1024 ** 3;
const largestDocument = 64 * 1024 * 1024;
const databaseMark = Buffer.from('SQLite format 3\0');

/**
 * Provides the contents of an uploaded file during `work` and deletes the file afterwards.
 * @throws Problem
 */
export async function withUpload<T>(
  folder: string,
  incoming: Readable,
  work: (holding: Holding) => Promise<T>,
): Promise<T> {
  const own = await mkdtemp(join(folder, 'import-'));
  const file = join(own, 'upload');
  try {
    const size = await writeBodyToFile(incoming, file, { most: largestDatabase, tooLarge });
    if (await isDatabase(file)) {
      await using database = await openKuma(file);
      return await work(database.holding);
    }
    if (size > largestDocument) throw tooLarge();
    return await work(readBackup(documentOf(await readFile(file, 'utf8'))));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function isDatabase(file: string): Promise<boolean> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(databaseMark.length), 0, databaseMark.length, 0);
  return buffer.equals(databaseMark);
}

function documentOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document === 'object' && document !== null) return document as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new Problem('uptime.no_backup', 400, 'The file is neither JSON nor a database.', { cause });
  }
  throw new Problem('uptime.no_backup', 400, 'The file holds nothing that could be taken over.');
}

function tooLarge(): Problem {
  return new Problem('uptime.too_large', 413, 'The file is too large.');
}
