import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { executableName } from './folder.ts';

/** Paths set by the owner, by engine: an executable, or its folder. */
export type EnginePaths = Readonly<Record<string, string>>;

/** Returns the path of the engine from the settings; undefined when not set. */
export async function configuredPath(
  { name, partOf }: Pick<EngineSpec, 'name' | 'partOf'>,
  paths: EnginePaths,
): Promise<string | undefined> {
  const set = (paths[name] ?? paths[partOf ?? ''])?.trim();
  if (set === undefined || set === '') return undefined;
  const isFolder = (await stat(set).catch(() => undefined))?.isDirectory() ?? false;
  if (isFolder) return join(set, executableName(name));
  if (partOf === undefined) return set;
  // The setting names the whole engine; its parts are beside it.
  return join(dirname(set), basename(set).replace(partOf, name));
}

/** Returns the absolute path of the first executable with this name in PATH and the usual folders. */
export async function systemPath(name: string): Promise<string | undefined> {
  const usual = [join(homedir(), '.local', 'bin'), '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/snap/bin'];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...usual];
  for (const folder of folders) {
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // Missing or not executable: try the next folder.
  }
}
