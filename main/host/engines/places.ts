import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { executableName } from './folder.ts';

/** Where the owner says engines are, by name: an executable, or the folder that holds it. */
export type EnginePaths = Readonly<Record<string, string>>;

/** Where the settings say that the engine is; undefined when they say nothing. */
export async function configuredPath(
  { name, partOf }: Pick<EngineSpec, 'name' | 'partOf'>,
  paths: EnginePaths,
): Promise<string | undefined> {
  const set = (paths[name] ?? paths[partOf ?? ''])?.trim();
  if (set === undefined || set === '') return undefined;
  const isFolder = (await stat(set).catch(() => undefined))?.isDirectory() ?? false;
  if (isFolder) return join(set, executableName(name));
  if (partOf === undefined) return set;
  // The setting names the whole; its parts lie beside it.
  return join(dirname(set), basename(set).replace(partOf, name));
}

/** The first executable of that name on the PATH and in the usual places, as an absolute path. */
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
    return false; // Not there or not for us: the next place is asked.
  }
}
