import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import type { Engine } from '../engine/engine.ts';
import { parseLocation, toGrantResource } from '../domain/location.ts';

/**
 * Returns one canonical name of a location, so that two jobs that write to it are detected: links are resolved, and the
 * engine resolves aliases and inline remotes.
 */
export async function getCanonicalLocation(engine: Engine, input: unknown, signal: AbortSignal): Promise<string> {
  const location = parseLocation(input, hasWindowsPaths());
  if (location.kind === 'local') return toGrantResource({ kind: 'local', path: await resolvePath(location.path) });
  const info = await engine.call('operations/fsinfo', { fs: input }, { signal });
  const { Name: name, Root: root } = info.body;
  if (info.status === 200 && typeof name === 'string' && typeof root === 'string') {
    if (root.startsWith('/') && (info.body['Features'] as { IsLocal?: unknown } | undefined)?.IsLocal === true) {
      return toGrantResource({ kind: 'local', path: await resolvePath(root) });
    }
    return toGrantResource({ kind: 'remote', name, path: root });
  }
  return location.kind === 'remote' ? toGrantResource(location) : JSON.stringify(input);
}

async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // The path does not exist yet or is not readable; its parent may be.
    return dirname(path) === path ? path : join(await resolvePath(dirname(path)), basename(path));
  }
}
