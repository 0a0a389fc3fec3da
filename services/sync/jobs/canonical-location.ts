import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import type { Engine } from '../engine/engine.ts';
import { parseLocation, toGrantResource } from '../domain/location.ts';

/**
 * Returns one canonical name of a location, so that two jobs that write to it are detected: links are resolved, and the
 * engine resolves aliases and inline remotes.
 */
export async function getCanonicalLocation(
  engine: Pick<Engine, 'call'>,
  input: unknown,
  signal?: AbortSignal,
  platform: NodeJS.Platform = currentPlatform,
): Promise<string> {
  const windows = hasWindowsPaths(platform);
  const location = parseLocation(input, windows);
  if (location.kind === 'local') return await getLocalName(location.path, platform);
  const info = await engine.call('operations/fsinfo', { fs: input }, signal === undefined ? {} : { signal });
  const { Name: name, Root: root } = info.body;
  if (info.status === 200 && typeof name === 'string' && typeof root === 'string') {
    const isLocal = (info.body['Features'] as { IsLocal?: unknown } | undefined)?.IsLocal === true;
    const local = parseLocation(root, windows);
    if (isLocal && local.kind === 'local') return await getLocalName(local.path, platform);
    return toGrantResource({ kind: 'remote', name, path: root });
  }
  return location.kind === 'remote' ? toGrantResource(location) : JSON.stringify(input);
}

async function getLocalName(path: string, platform: NodeJS.Platform): Promise<string> {
  return toGrantResource({ kind: 'local', path: await resolvePath(path) }, platform);
}

async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // The path does not exist yet or is not readable; its parent may be.
    return dirname(path) === path ? path : join(await resolvePath(dirname(path)), basename(path));
  }
}
