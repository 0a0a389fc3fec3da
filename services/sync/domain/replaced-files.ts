import { readPlace } from './location.ts';

/**
 * Returns the folder that receives replaced and deleted files: next to the destination, because the engine moves files
 * within one remote and accepts no folder inside of the destination. Returns undefined if the destination has no parent.
 */
export function replacedPlace(destination: string, jobId: number, windows = false): string | undefined {
  const place = readPlace(destination, windows);
  if (place.kind === 'inline') return undefined;
  const path = place.path.replaceAll('\\', '/').replace(/\/+$/, '');
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1);
  if (name === '' || name === '.' || name === '..' || (windows && /^[a-z]:$/i.test(path))) return undefined;
  const beside = `${path.slice(0, at + 1)}.${name}.replaced/${String(jobId)}`;
  return place.kind === 'local' ? beside : `${place.name}:${beside}`;
}
