import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ZipFile } from 'yazl';
import type { Item } from '../domain/item.ts';
import type { Folders } from './folders.ts';
import { resolveFile } from './resolve-file.ts';

/** ZIP archive whose content is produced while it is read. */
export interface Archive {
  readonly stream: Readable;
  /** Length in bytes. */
  readonly size: number | undefined;
}

/**
 * Packs the main files of downloads into one ZIP archive without writing it to the disk. Media files are stored as they
 * are, since they cannot be compressed further. Returns undefined when none of the files exists.
 */
export async function createArchive(
  items: readonly Item[],
  folders: Pick<Folders, 'getRoot'>,
): Promise<Archive | undefined> {
  // Loaded on demand: most hosts never pack anything.
  const yazl = await import('yazl');
  const zip = new yazl.ZipFile();
  const stream = zip.outputStream as Readable;
  const names = new Set<string>();
  let current: ReadStream | undefined;
  // A file that disappears or changes meanwhile ends the transfer, so that no incomplete archive looks complete. The
  // first file is opened as soon as it is added.
  const abort = (error: unknown): void => void stream.destroy(error as Error);
  zip.on('error', abort);
  // An error before the archive is sent is reported to its later reader.
  stream.on('error', () => undefined);
  // A client that leaves must not keep the current file open.
  stream.once('close', () => current?.destroy());
  for (const item of items) {
    const parts = item.filename?.split('/') ?? [];
    const path = await resolveFile(folders.getRoot(item.order), parts);
    const stats = path === undefined ? undefined : await stat(path).catch(() => undefined);
    if (path === undefined || stats?.isFile() !== true) continue;
    const options = { compress: false, size: stats.size, mtime: stats.mtime };
    zip.addReadStreamLazy(toUniqueName(parts.at(-1) ?? '', names), options, (callback) => {
      // The library does not handle errors of streams that it requests.
      current = createReadStream(path).once('error', abort);
      callback(null, current);
    });
  }
  if (names.size === 0) return undefined;
  return { stream, size: await finish(zip) };
}

/** Ends the list of files. Returns the length of the archive, or undefined when it is not known in advance. */
async function finish(zip: ZipFile): Promise<number | undefined> {
  const size = Promise.withResolvers<number | undefined>();
  const report = (total: number): void => size.resolve(total < 0 ? undefined : total);
  // The type of the library omits the argument.
  zip.end(undefined, report as () => void);
  return await size.promise;
}

/**
 * Returns a name that no other file of the archive has. Characters are replaced that are separators of paths for some
 * programs, or that file systems of Windows do not have.
 */
function toUniqueName(filename: string, names: Set<string>): string {
  const name = filename.replaceAll(/[\p{Cc}"*/:<>?\\|]/gu, '_');
  const [, stem = name, extension = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
  let unique = name;
  for (let number = 2; names.has(unique.toLowerCase()); number += 1) unique = `${stem} (${number})${extension}`;
  names.add(unique.toLowerCase());
  return unique;
}
