import * as m from '#messages/sync-problems';
import { readdir, stat } from 'node:fs/promises';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { compareNames } from '../../contracts/compare-names.ts';
import { join } from 'node:path';
import { maxListedEntries, type SyncEntry } from '../../contracts/sync/files.ts';
import { explainFailure } from '../domain/failure-cause.ts';
import { findCommandOption } from '../domain/command-options.ts';
import { parseLocation, joinLocation } from '../domain/location.ts';
import type { Engine } from '../engine/engine.ts';
import { getErrorMessage } from '../engine/engine-client.ts';
import { CallError } from '../access/call-error.ts';

/** Lists a folder; local folders are read without the engine. @throws CallError */
export async function browse(
  engine: Engine,
  location: string,
  platform: NodeJS.Platform = currentPlatform,
): Promise<SyncEntry[]> {
  const place = parseLocation(location, hasWindowsPaths(platform));
  if (place.kind === 'inline' || findCommandOption(location) !== undefined)
    throw new CallError(400, 'not a folder or remote', m.notFolderOrRemote);
  const entries = place.kind === 'local' ? await listLocal(place.path, platform) : await listRemote(engine, location);
  return entries
    .toSorted((a, b) => Number(b.isFolder) - Number(a.isFolder) || compareNames(a.name, b.name))
    .slice(0, maxListedEntries);
}

async function listLocal(folder: string, platform: NodeJS.Platform): Promise<SyncEntry[]> {
  let names;
  try {
    names = await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    const error = isAccessError(cause) ? cause.message : 'directory not found';
    throw new CallError(404, error, () => explainFailure({ error, code: '' }, folder, platform).error);
  }
  const listed = await Promise.all(
    names
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .slice(0, maxListedEntries)
      .map(async (entry): Promise<SyncEntry | undefined> => {
        const path = join(folder, entry.name);
        // The entry may have been deleted in the meantime.
        const stats = await stat(path).catch(() => undefined);
        if (stats === undefined) return undefined;
        const isFolder = entry.isDirectory();
        return { name: entry.name, path, isFolder, size: isFolder ? -1 : stats.size, modifiedAt: stats.mtimeMs };
      }),
  );
  return listed.flatMap((entry) => entry ?? []);
}

async function listRemote(engine: Engine, location: string): Promise<SyncEntry[]> {
  const { status, body } = await engine.call('operations/list', {
    fs: location,
    remote: '',
    opt: { noMimeType: true },
  });
  if (status !== 200) throw new CallError(status === 404 ? 404 : 502, getErrorMessage(body));
  const list = Array.isArray(body['list'])
    ? (body['list'] as { Name: string; Size: number; ModTime: string; IsDir: boolean }[])
    : [];
  return list.slice(0, maxListedEntries).map(({ Name, Size, ModTime, IsDir }) => ({
    name: Name,
    path: joinLocation(location, Name),
    isFolder: IsDir,
    size: IsDir ? -1 : Size,
    modifiedAt: Number.isNaN(Date.parse(ModTime)) ? null : Date.parse(ModTime),
  }));
}

function isAccessError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}
