import { parseLocation } from './location.ts';
import { isShareRoot } from './windows-path.ts';

/**
 * Returns the folder that receives replaced and deleted files: next to the destination, because the engine moves files
 * within one remote and accepts no folder inside of the destination. Returns undefined if the destination has no parent.
 */
export function getReplacedFilesFolder(destination: string, jobId: number, windows = false): string | undefined {
  const location = parseLocation(destination, windows);
  if (location.kind === 'inline') return undefined;
  const path = location.path.replaceAll('\\', '/').replace(/\/+$/, '');
  const slashIndex = path.lastIndexOf('/');
  const name = path.slice(slashIndex + 1);
  if (name === '' || name === '.' || name === '..' || (windows && (/^[a-z]:$/i.test(path) || isShareRoot(path))))
    return undefined;
  const folder = `${path.slice(0, slashIndex + 1)}.${name}.replaced/${String(jobId)}`;
  return location.kind === 'local' ? folder : `${location.name}:${folder}`;
}
