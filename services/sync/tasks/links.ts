import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { parseLocation } from '../domain/location.ts';

const together = 16;
type Found = 'missing' | 'link' | 'plain';

/**
 * Refuses links inside of a destination. They are never followed or replaced, because their targets were not part of the
 * preview and may be anywhere. Only local folders have visible links.
 *
 * @throws Problem `sync.link` (409) for the first path that is a link or is below one.
 */
export async function refuseLinks(destination: string, paths: readonly string[]): Promise<void> {
  const place = parseLocation(destination, process.platform === 'win32');
  if (place.kind !== 'local') return;
  const folders = new Map<string, Promise<Found>>([['', Promise.resolve('plain')]]);
  const check = async (path: string): Promise<Found> => {
    const above = await folderOf(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    return above === 'plain' ? await look(join(place.path, path), path) : above;
  };
  const folderOf = (path: string): Promise<Found> => {
    const known = folders.get(path) ?? check(path);
    folders.set(path, known);
    return known;
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < paths.length; at = next++) await check(paths[at] ?? '');
  };
  await Promise.all(Array.from({ length: Math.min(together, paths.length) }, worker));
}

/**
 * Refuses links in the folder of replaced files, which is two levels below the parent of the destination.
 *
 * @throws Problem `sync.link` (409)
 */
export async function refuseKeptLinks(kept: string, path: string): Promise<void> {
  const names = [basename(dirname(kept)), basename(kept), ...(path === '' ? [] : [path])];
  await refuseLinks(dirname(dirname(kept)), [names.join('/')]);
}

async function look(full: string, path: string): Promise<Found> {
  let isLink;
  try {
    isLink = (await lstat(full)).isSymbolicLink();
  } catch {
    // A missing path is no link; a later write reports other errors.
    return 'missing';
  }
  if (!isLink) return 'plain';
  throw new Problem('sync.link', 409, `${path} is a link at the destination, and links are left as they are`);
}
