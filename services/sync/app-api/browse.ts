import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SyncEntry } from '../../contracts/sync/api.ts';
import { commandIn } from '../domain/commands.ts';
import { readPlace, within } from '../domain/place.ts';
import { errorOf, type Engine } from '../engine/engine.ts';
import { CallError } from '../rclone-api/call-error.ts';

const most = 2000;

/** What a folder holds: of this computer without the engine. @throws CallError */
export async function browse(engine: Engine, at: string): Promise<SyncEntry[]> {
  const place = readPlace(at, process.platform === 'win32');
  if (place.kind === 'inline' || commandIn(at) !== undefined) throw new CallError(400, 'it is no folder and no remote');
  const entries = place.kind === 'local' ? await localEntries(place.path) : await remoteEntries(engine, at);
  return entries
    .toSorted((a, b) => Number(b.isFolder) - Number(a.isFolder) || a.name.localeCompare(b.name))
    .slice(0, most);
}

async function localEntries(folder: string): Promise<SyncEntry[]> {
  let names;
  try {
    names = await readdir(folder, { withFileTypes: true });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : '';
    throw new CallError(404, code === 'EACCES' ? 'this computer does not let Homeport read it' : 'directory not found');
  }
  const found = await Promise.all(
    names
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .slice(0, most)
      .map(async (entry): Promise<SyncEntry | undefined> => {
        const path = join(folder, entry.name);
        // It may be gone by now.
        const facts = await stat(path).catch(() => undefined);
        if (facts === undefined) return undefined;
        const isFolder = entry.isDirectory();
        return { name: entry.name, path, isFolder, size: isFolder ? -1 : facts.size, modifiedAt: facts.mtimeMs };
      }),
  );
  return found.flatMap((entry) => entry ?? []);
}

async function remoteEntries(engine: Engine, at: string): Promise<SyncEntry[]> {
  const { status, body } = await engine.call('operations/list', { fs: at, remote: '', opt: { noMimeType: true } });
  if (status !== 200) throw new CallError(status === 404 ? 404 : 502, errorOf(body));
  const list = Array.isArray(body['list'])
    ? (body['list'] as { Name: string; Size: number; ModTime: string; IsDir: boolean }[])
    : [];
  return list.slice(0, most).map(({ Name, Size, ModTime, IsDir }) => ({
    ...{ name: Name, path: within(at, Name), isFolder: IsDir, size: IsDir ? -1 : Size },
    modifiedAt: Number.isNaN(Date.parse(ModTime)) ? null : Date.parse(ModTime),
  }));
}
