import { constants } from 'node:fs';
import { copyFile, link, lstat, open, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { nameBeside } from '../domain/template.ts';
import { makeFolders, setFileRights, type Rights } from './file-permissions.ts';

export interface Delivery {
  /** Where the extractor left what is finished. */
  readonly from: string;
  /** Where it left the files of chapters. */
  readonly chapters?: string;
  /** The folder of the request; made when missing. */
  readonly to: string;
  /** Nothing is ever written outside of this folder. */
  readonly root: string;
  /** Names copies on their way. */
  readonly uid: string;
  /** The file the extractor named as its result, below `from`. */
  readonly main: string | undefined;
  readonly rights?: Rights;
}

export interface Delivered {
  /** Absolute path of the main file. */
  readonly path: string;
  readonly size: number;
  /** What lies beside it, under the same number where names were taken. */
  readonly others: readonly { readonly path: string; readonly size: number; readonly chapter: boolean }[];
  /** Removes what is left on this side; call it once the result is recorded. */
  readonly settle: () => Promise<void>;
  /** Removes what was delivered, which nobody wants any more. */
  readonly undo: () => Promise<void>;
}

/** What only ever comes beside something else. */
const aside = /\.(info\.json|description)$/;

/**
 * Brings finished files to their folder without overwriting: a name that is taken gets ` (2)`. Calling it again after a
 * crash, before {@link Delivered.settle}, finds what was delivered and delivers nothing twice: a delivered file is
 * another name of the one that is still here.
 * @throws Problem `downloads.nothing` (502), `downloads.outside` (403), `downloads.not_written` (507).
 */
export async function deliver(delivery: Delivery): Promise<Delivered> {
  const { from, to, root, uid, chapters, rights = {} } = delivery;
  const found = await listFiles(from, false);
  const main =
    found.find(({ source }) => source === delivery.main) ?? found.find(({ name }) => !aside.test(name)) ?? found[0];
  if (main === undefined) throw new Problem('downloads.nothing', 502, 'The extractor ended well but left no file.');
  const rest = [...found.filter((file) => file !== main), ...(await listFiles(chapters, true))];
  const leftovers: string[] = [];
  try {
    const files: Placing[] = [];
    for (const { source, name, chapter } of [main, ...rest]) {
      const folder = dirname(join(to, name));
      await makeFolder(folder, root, rights);
      const copy = join(folder, copyName(uid, files.length));
      const beside = await besideTarget(source, copy, leftovers);
      // Before it has its name, nobody has opened it.
      await setFileRights(beside, rights);
      files.push({ source: beside, name, chapter });
    }
    const placed = await placeTogether(files, to);
    const [first, ...others] = await Promise.all(
      placed.map(async ({ path, chapter }) => ({ path, chapter, size: (await stat(path)).size })),
    );
    return {
      path: first?.path ?? '',
      size: first?.size ?? 0,
      others,
      async settle() {
        await Promise.all(leftovers.map(async (file) => await rm(file, { force: true })));
      },
      async undo() {
        await Promise.all(placed.map(async ({ path }) => await rm(path, { force: true })));
      },
    };
  } catch (error) {
    if (error instanceof Problem) throw error;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const detail =
      reason === 'ENOSPC'
        ? 'The disk of the download folder is full: free some space, then retry.'
        : `The download folder cannot be written (${reason}): ${delivery.to}`;
    throw new Problem('downloads.not_written', 507, detail, { cause: error });
  }
}

/** Removes the copies that a delivery recorded just before a crash has left beside the file. */
export async function removeCopies(file: string, uid: string): Promise<void> {
  const folder = dirname(file);
  const copies = (await readdir(folder).catch((): string[] => [])).filter((name) => isCopy(name, uid));
  await Promise.all(copies.map(async (name) => await rm(join(folder, name), { force: true })));
}

function copyName(uid: string, number: number): string {
  return `.${uid}-${number}.part`;
}

function isCopy(name: string, uid: string): boolean {
  return name.startsWith(`.${uid}-`) && name.endsWith('.part');
}

/** A finished file and its name below the folder of the request. */
interface Placing {
  readonly source: string;
  readonly name: string;
  readonly chapter: boolean;
}

async function listFiles(folder: string | undefined, chapter: boolean): Promise<readonly Placing[]> {
  if (folder === undefined) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((source) => ({ source, name: visible(relative(folder, source)), chapter }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A name that begins with a dot is hidden, and served to nobody. */
function visible(file: string): string {
  const name = basename(file);
  return name.startsWith('.') ? join(dirname(file), `_${name}`) : file;
}

/** Makes the folder, and makes sure that no link in its path leads out of the root. */
async function makeFolder(folder: string, root: string, rights: Rights): Promise<void> {
  await makeFolders(root, rights);
  const realRoot = await realpath(root);
  // Before anything is made, look at the nearest folder that is there: mkdir would follow a link.
  let nearest = folder;
  while ((await lstat(nearest).catch(() => undefined)) === undefined) nearest = dirname(nearest);
  requireInside(await realpath(nearest), realRoot);
  await makeFolders(folder, rights);
  requireInside(await realpath(folder), realRoot);
}

function requireInside(path: string, root: string): void {
  if (path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)) return;
  throw new Problem('downloads.outside', 403, 'The file would lie outside of the download folder.');
}

/** The file on the target's file system: itself, or a synced copy in the target's folder. */
async function besideTarget(file: string, copy: string, leftovers: string[]): Promise<string> {
  if ((await stat(file)).dev === (await stat(dirname(copy))).dev) return file;
  leftovers.push(copy);
  const size = (await stat(file)).size;
  const before = await stat(copy).catch(() => undefined);
  // A complete copy of an earlier attempt may already be known under its last name.
  if (before?.size === size && before.nlink > 1) return copy;
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
 * Gives files that belong together their last names, all with the first number that is free for each of them: captions
 * are found by their video's name.
 */
async function placeTogether(
  files: readonly Placing[],
  to: string,
): Promise<readonly { readonly path: string; readonly chapter: boolean }[]> {
  const main = files[0]?.name ?? '';
  for (let number = 1; ; number += 1) {
    const undo: (() => Promise<void>)[] = [];
    const placed: { path: string; chapter: boolean }[] = [];
    for (const { source, name, chapter } of files) {
      const path = join(to, nameBeside(main, name, number));
      const done = await place(source, path);
      if (done === undefined) break;
      undo.push(done);
      placed.push({ path, chapter });
    }
    if (placed.length === files.length) return placed;
    for (const step of undo.toReversed()) await step();
  }
}

/** Gives the file this name unless it is taken; undefined when it is. What is returned takes it back. */
async function place(source: string, path: string): Promise<(() => Promise<void>) | undefined> {
  const { ino, dev } = await stat(source);
  const taken = await lstat(path).catch(() => undefined);
  const back = async (): Promise<void> => await unlink(path);
  // Delivered by an attempt before.
  if (taken?.ino === ino && taken.dev === dev) return back;
  if (taken !== undefined) return undefined;
  try {
    await link(source, path);
    return back;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST') return undefined;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') throw error;
  }
  // A file system without links (exFAT): reserve the name, then rename over the reservation.
  const reserved = await open(path, 'wx').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  });
  if (reserved === undefined) return undefined;
  await reserved.close();
  try {
    await rename(source, path);
  } catch (error) {
    await unlink(path);
    throw error;
  }
  return async () => await rename(path, source);
}
