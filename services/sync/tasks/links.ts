import { lstat } from 'node:fs/promises';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import { basename, dirname, join } from 'node:path';
import { parseLocation } from '../domain/location.ts';

const maxConcurrency = 16;
type PathKind = 'missing' | 'link' | 'plain';

/**
 * Refuses links inside of a destination. They are never followed or replaced, because their targets were not part of the
 * preview and may be anywhere. Only local folders have visible links.
 *
 * @throws Problem `sync.link` (409) for the first path that is a link or is below one.
 */
export async function refuseLinks(destination: string, paths: readonly string[]): Promise<void> {
  const location = parseLocation(destination, hasWindowsPaths());
  if (location.kind !== 'local') return;
  const folders = new Map<string, Promise<PathKind>>([['', Promise.resolve('plain')]]);
  const check = async (path: string): Promise<PathKind> => {
    const parentKind = await getFolderKind(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
    return parentKind === 'plain' ? await getPathKind(join(location.path, path), path) : parentKind;
  };
  const getFolderKind = (path: string): Promise<PathKind> => {
    const kind = folders.get(path) ?? check(path);
    folders.set(path, kind);
    return kind;
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < paths.length; index = next++) await check(paths[index] ?? '');
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrency, paths.length) }, worker));
}

/**
 * Refuses links in the folder of replaced files, which is two levels below the parent of the destination.
 *
 * @throws Problem `sync.link` (409)
 */
export async function refuseReplacedFilesLinks(folder: string, path: string): Promise<void> {
  const names = [basename(dirname(folder)), basename(folder), ...(path === '' ? [] : [path])];
  await refuseLinks(dirname(dirname(folder)), [names.join('/')]);
}

async function getPathKind(fullPath: string, path: string): Promise<PathKind> {
  let isLink;
  try {
    isLink = (await lstat(fullPath)).isSymbolicLink();
  } catch {
    // A missing path is not a link; a later write reports other errors.
    return 'missing';
  }
  if (!isLink) return 'plain';
  throw new FailureProblem(409, failures.link.create({ path }));
}
