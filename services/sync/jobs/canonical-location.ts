import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Engine } from '../engine/engine.ts';
import { readPlace, resourceOf } from '../domain/location.ts';

/**
 * Returns one canonical name of a location, so that two jobs that write to it are detected: links are resolved, and the
 * engine resolves aliases and inline remotes.
 */
export async function exclusiveName(engine: Engine, given: unknown, signal: AbortSignal): Promise<string> {
  const place = readPlace(given, process.platform === 'win32');
  if (place.kind === 'local') return resourceOf({ kind: 'local', path: await realOf(place.path) });
  const asked = await engine.call('operations/fsinfo', { fs: given }, { signal });
  const { Name: name, Root: root } = asked.body;
  if (asked.status === 200 && typeof name === 'string' && typeof root === 'string') {
    if (root.startsWith('/') && (asked.body['Features'] as { IsLocal?: unknown } | undefined)?.IsLocal === true) {
      return resourceOf({ kind: 'local', path: await realOf(root) });
    }
    return resourceOf({ kind: 'remote', name, path: root });
  }
  return place.kind === 'remote' ? resourceOf(place) : JSON.stringify(given);
}

async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // The path does not exist yet or is not readable; its parent may be.
    return dirname(path) === path ? path : join(await realOf(dirname(path)), basename(path));
  }
}
