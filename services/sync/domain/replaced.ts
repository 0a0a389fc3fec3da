import { readPlace } from './place.ts';

/**
 * Where a run puts what it replaces and deletes: beside the destination, since the engine moves within one remote and takes no
 * place in the destination itself. Undefined: there is no beside.
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
