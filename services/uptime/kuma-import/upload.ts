import * as m from '#messages/uptime-problems';
import { mkdtemp, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import { writeBodyToFile } from '../../kit/http/body.ts';
import { parseBackup, type ImportSource } from './backup.ts';
import { openKumaBackup } from './kuma-reader.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/** Allows for years of history of thousands of monitors. */
const maxDatabaseBytes = 2 * 1024 ** 3;
const maxDocumentBytes = 64 * 1024 * 1024;
const sqliteSignature = Buffer.from('SQLite format 3\0');

/**
 * Provides the contents of an uploaded file during `work` and deletes the file afterwards.
 * @throws Problem
 */
export async function withUpload<T>(
  folder: string,
  incoming: Readable,
  work: (holding: ImportSource) => Promise<T>,
): Promise<T> {
  const uploadFolder = await mkdtemp(join(folder, 'import-'));
  const file = join(uploadFolder, 'upload');
  try {
    const size = await writeBodyToFile(incoming, file, { maxBytes: maxDatabaseBytes, tooLarge });
    if (await isDatabase(file)) {
      await using database = await openKumaBackup(file);
      return await work(database.source);
    }
    if (size > maxDocumentBytes) throw tooLarge();
    return await work(parseBackup(parseDocument(await readFile(file, 'utf8'))));
  } finally {
    await removeTree(uploadFolder);
  }
}

async function isDatabase(file: string): Promise<boolean> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(sqliteSignature.length), 0, sqliteSignature.length, 0);
  return buffer.equals(sqliteSignature);
}

function parseDocument(text: string): Readonly<Record<string, unknown>> {
  const document = parseJsonOrThrow(
    text,
    (cause) => new Problem('uptime.no_backup', 400, m.fileFormatUnknown(), { cause }),
  );
  if (typeof document === 'object' && document !== null) return document as Readonly<Record<string, unknown>>;
  throw new Problem('uptime.no_backup', 400, m.nothingToImport());
}

function tooLarge(): Problem {
  return new Problem('uptime.too_large', 413, m.fileTooLarge());
}
