import { constants } from 'node:fs';
import { copyFile, link, lstat, open, readdir, realpath, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import { isSameFile, lacksHardLinks } from '../../kit/hard-links.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { buildCompanionName } from '../domain/template.ts';
import { createFolders, setFilePermissions, type FilePermissions } from './file-permissions.ts';

export interface Delivery {
  /** Folder of the finished files. */
  readonly from: string;
  /** Folder of the chapter files. */
  readonly chapters?: string;
  /** Target folder, created when it is missing. */
  readonly to: string;
  /** Nothing is written outside of this folder. */
  readonly root: string;
  /** Part of the names of temporary copies. */
  readonly uid: string;
  /** The result file reported by the extractor, inside of `from`. */
  readonly main: string | undefined;
  readonly rights?: FilePermissions;
}

export interface DeliveryResult {
  /** Absolute path of the main file. */
  readonly path: string;
  readonly size: number;
  /** Companion files, with the same number as the main file. */
  readonly others: readonly { readonly path: string; readonly size: number; readonly chapter: boolean }[];
  /** Removes the remaining source files. Call it after the result is stored. */
  readonly settle: () => Promise<void>;
  /** Removes the delivered files of a cancelled download. */
  readonly undo: () => Promise<void>;
}

/** Files that only accompany another file. */
const companionPattern = /\.(info\.json|description)$/;

/**
 * Moves finished files to their folder without overwriting: an existing name is extended by ` (2)`. A repeated call
 * after a crash, before {@link DeliveryResult.settle}, recognizes delivered files, which are hard links of the source
 * files, and delivers nothing twice.
 * @throws Problem `downloads.nothing` (502), `downloads.outside` (403), `downloads.not_written` (507)
 */
export async function deliver(delivery: Delivery): Promise<DeliveryResult> {
  const { from, to, root, uid, chapters, rights = {} } = delivery;
  const finishedFiles = await listFiles(from, false);
  const main =
    finishedFiles.find(({ source }) => source === delivery.main) ??
    finishedFiles.find(({ name }) => !companionPattern.test(name)) ??
    finishedFiles[0];
  if (main === undefined)
    throw new DownloadProblem('downloads.nothing', 502, createServiceFailure('no_file_created', 'other'));
  const otherFiles = [...finishedFiles.filter((file) => file !== main), ...(await listFiles(chapters, true))];
  const temporaryCopies: string[] = [];
  try {
    const files: FinishedFile[] = [];
    for (const { source, name, chapter } of [main, ...otherFiles]) {
      const folder = dirname(join(to, name));
      await createFolder(folder, root, rights);
      const copy = join(folder, buildCopyName(uid, files.length));
      const localFile = await ensureSameFileSystem(source, copy, temporaryCopies);
      // Set before the file has its final name, so that no other program has opened it.
      await setFilePermissions(localFile, rights);
      files.push({ source: localFile, name, chapter });
    }
    const linkedFiles = await linkTogether(files, to);
    const [first, ...others] = await Promise.all(
      linkedFiles.map(async ({ path, chapter }) => ({ path, chapter, size: (await stat(path)).size })),
    );
    return {
      path: first?.path ?? '',
      size: first?.size ?? 0,
      others,
      async settle() {
        await Promise.all(temporaryCopies.map(async (file) => await rm(file, { force: true })));
      },
      async undo() {
        await Promise.all(linkedFiles.map(async ({ path }) => await rm(path, { force: true })));
      },
    };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const failure =
      reason === 'ENOSPC'
        ? createServiceFailure('disk_full', 'disk', { place: 'download' })
        : createServiceFailure('folder_not_writable', 'disk', { place: 'download', reason, folder: delivery.to });
    throw new DownloadProblem('downloads.not_written', 507, failure, { cause: error });
  }
}

/** Removes the temporary copies of a delivery that was stored just before a crash. */
export async function removeCopies(file: string, uid: string): Promise<void> {
  const folder = dirname(file);
  const copies = (await readdir(folder).catch((): string[] => [])).filter((name) => isCopy(name, uid));
  await Promise.all(copies.map(async (name) => await rm(join(folder, name), { force: true })));
}

function buildCopyName(uid: string, index: number): string {
  return `.${uid}-${index}.part`;
}

function isCopy(name: string, uid: string): boolean {
  return name.startsWith(`.${uid}-`) && name.endsWith('.part');
}

/** A finished file and its name relative to the target folder. */
interface FinishedFile {
  readonly source: string;
  readonly name: string;
  readonly chapter: boolean;
}

async function listFiles(folder: string | undefined, chapter: boolean): Promise<readonly FinishedFile[]> {
  if (folder === undefined) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((source) => ({ source, name: toVisibleName(relative(folder, source)), chapter }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Renames hidden files, which begin with a dot and are not served. */
function toVisibleName(file: string): string {
  const name = basename(file);
  return name.startsWith('.') ? join(dirname(file), `_${name}`) : file;
}

/** Creates the folder and checks that no link in its path leads out of the root. */
async function createFolder(folder: string, root: string, rights: FilePermissions): Promise<void> {
  await createFolders(root, rights);
  const realRoot = await realpath(root);
  // Checks the nearest existing folder first, since mkdir would follow a link.
  let existingFolder = folder;
  while ((await lstat(existingFolder).catch(() => undefined)) === undefined) existingFolder = dirname(existingFolder);
  requireInside(await realpath(existingFolder), realRoot);
  await createFolders(folder, rights);
  requireInside(await realpath(folder), realRoot);
}

function requireInside(path: string, root: string): void {
  if (path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)) return;
  throw new DownloadProblem('downloads.outside', 403, createServiceFailure('file_outside', 'refused'));
}

/** Returns the file on the target's file system: the file itself, or a synced copy in the target folder. */
async function ensureSameFileSystem(file: string, copy: string, temporaryCopies: string[]): Promise<string> {
  const [fileStats, folderStats] = await Promise.all([file, dirname(copy)].map((path) => stat(path, { bigint: true })));
  if (fileStats?.dev === folderStats?.dev) return file;
  temporaryCopies.push(copy);
  const size = (await stat(file)).size;
  const existingCopy = await stat(copy).catch(() => undefined);
  // A complete copy of an earlier attempt may already have its final name.
  if (existingCopy?.size === size && existingCopy.nlink > 1) return copy;
  await rm(copy, { force: true });
  try {
    await copyFile(file, copy, constants.COPYFILE_EXCL);
    const handle = await open(copy, 'r+');
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    await rm(copy, { force: true });
    throw error;
  }
  return copy;
}

/**
 * Gives related files their final names, all with the first number that is free for each of them: captions are found by
 * the name of their video.
 */
async function linkTogether(
  files: readonly FinishedFile[],
  to: string,
): Promise<readonly { readonly path: string; readonly chapter: boolean }[]> {
  const main = files[0]?.name ?? '';
  for (let number = 1; ; number += 1) {
    const undo: (() => Promise<void>)[] = [];
    const placed: { path: string; chapter: boolean }[] = [];
    for (const { source, name, chapter } of files) {
      const path = join(to, buildCompanionName(main, name, number));
      const undoLink = await linkFile(source, path);
      if (undoLink === undefined) break;
      undo.push(undoLink);
      placed.push({ path, chapter });
    }
    if (placed.length === files.length) return placed;
    for (const step of undo.toReversed()) await step();
  }
}

/** Links the file to this name; undefined when the name exists. The result undoes it. */
async function linkFile(source: string, path: string): Promise<(() => Promise<void>) | undefined> {
  const stats = await stat(source, { bigint: true });
  const existing = await lstat(path, { bigint: true }).catch(() => undefined);
  const unlinkFile = async (): Promise<void> => await unlink(path);
  // Delivered by an earlier attempt.
  if (existing !== undefined) return isSameFile(existing, stats) ? unlinkFile : undefined;
  try {
    await link(source, path);
    return unlinkFile;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    if (!lacksHardLinks(error)) throw error;
  }
  // For file systems without links (exFAT): reserve the name, then rename over the reservation.
  const reservation = await open(path, 'wx').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (reservation === undefined) return undefined;
  await reservation.close();
  try {
    await replaceFile(source, path);
  } catch (error) {
    await unlink(path);
    throw error;
  }
  return async () => await replaceFile(path, source);
}
