import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import { readPlace } from '../domain/location.ts';

const together = 16;
type Found = 'missing' | 'link' | 'plain';

/**
 * Links within a destination are never written or deleted through, nor replaced: what they lead to was not shown, and may lie
 * anywhere. Other places than folders of this computer have none that we could see.
 *
 * @throws Problem `sync.link` (409) for the first of these paths that is a link or lies below one.
 */
export async function refuseLinks(destination: string, paths: readonly string[]): Promise<void> {
  const place = readPlace(destination, process.platform === 'win32');
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
 * The same of what is kept of a run: that lies two folders below the one that holds the destination, and each could be a link.
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
    // Where nothing is there is no link; whoever writes there hears what is wrong.
    return 'missing';
  }
  if (!isLink) return 'plain';
  throw new Problem('sync.link', 409, `${path} is a link at the destination, and links are left as they are`);
}
