import { constants } from 'node:fs';
import { copyFile, link, lstat, mkdir, open, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { numberedName } from '../domain/template.ts';

export interface Delivery {
  /** Where the extractor left what is finished. */
  readonly from: string;
  /** The folder of the request; made when missing. */
  readonly to: string;
  /** Nothing is ever written outside of this folder. */
  readonly root: string;
  /** Names copies on their way. */
  readonly uid: string;
  /** The file the extractor named as its result, below `from`. */
  readonly main: string | undefined;
}

export interface Delivered {
  /** Absolute path of the main file. */
  readonly path: string;
  readonly size: number;
  /** Removes what is left on this side; call it once the result is recorded. */
  readonly settle: () => Promise<void>;
}

/**
 * Brings finished files to their folder without overwriting: a name that is taken gets ` (2)`. Calling it again after a
 * crash, before {@link Delivered.settle}, finds what was delivered and delivers nothing twice: a delivered file is
 * another name of the one that is still here.
 * @throws Problem `downloads.nothing` (502), `downloads.outside` (403), `downloads.not_written` (507).
 */
export async function deliver(delivery: Delivery): Promise<Delivered> {
  const files = await listFiles(delivery.from);
  const main = files.find((file) => join(delivery.from, file) === delivery.main) ?? files[0];
  if (main === undefined) throw new Problem('downloads.nothing', 502, 'The extractor ended well but left no file.');
  const leftovers: string[] = [];
  try {
    const placed = new Map<string, string>();
    for (const file of [main, ...files.filter((each) => each !== main)]) {
      const target = join(delivery.to, file);
      await makeFolder(dirname(target), delivery.root);
      const copy = join(dirname(target), copyName(delivery.uid, placed.size));
      const source = await besideTarget(join(delivery.from, file), copy, leftovers);
      placed.set(file, await place(source, target));
    }
    const path = placed.get(main) ?? main;
    const { size } = await stat(path);
    return {
      path,
      size,
      async settle() {
        await Promise.all(leftovers.map(async (file) => await rm(file, { force: true })));
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

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Makes the folder, and makes sure that no link in its path leads out of the root. */
async function makeFolder(folder: string, root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  const realRoot = await realpath(root);
  // Before anything is made, look at the nearest folder that is there: mkdir would follow a link.
  let nearest = folder;
  while ((await lstat(nearest).catch(() => undefined)) === undefined) nearest = dirname(nearest);
  requireInside(await realpath(nearest), realRoot);
  await mkdir(folder, { recursive: true });
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

/** Gives the file its last name, the first free one. Returns it. */
async function place(source: string, target: string): Promise<string> {
  const { ino, dev } = await stat(source);
  for (let number = 1; ; number += 1) {
    const path = join(dirname(target), numberedName(target.slice(dirname(target).length + 1), number));
    const taken = await lstat(path).catch(() => undefined);
    if (taken?.ino === ino && taken.dev === dev) return path;
    if (taken !== undefined) continue;
    try {
      await link(source, path);
      return path;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EEXIST') continue;
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') throw error;
    }
    // A file system without links (exFAT): reserve the name, then rename over the reservation.
    const reserved = await open(path, 'wx').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
      throw error;
    });
    if (reserved === undefined) continue;
    await reserved.close();
    try {
      await rename(source, path);
    } catch (error) {
      await unlink(path);
      throw error;
    }
    return path;
  }
}
