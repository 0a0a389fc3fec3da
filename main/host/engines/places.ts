import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, posix, win32 } from 'node:path';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { runCommand } from './command.ts';

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

/**
 * Returns the folders that are searched for a program in addition to the PATH. An app that was started from the desktop of
 * macOS has a PATH without those of Homebrew.
 */
export function getUsualFolders(
  platform: NodeJS.Platform,
  environment: NodeJS.ProcessEnv = process.env,
  home = homedir(),
): readonly string[] {
  if (platform === 'win32') {
    const path = win32;
    const programs = environment['ProgramFiles'] ?? 'C:\\Program Files';
    const local = environment['LOCALAPPDATA'] ?? path.join(home, 'AppData', 'Local');
    return [
      path.join(programs, 'Git', 'cmd'),
      path.join(local, 'Programs', 'Git', 'cmd'),
      path.join(local, 'Microsoft', 'WinGet', 'Links'),
    ];
  }
  const userFolder = posix.join(home, '.local', 'bin');
  if (platform === 'darwin') return [userFolder, '/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin', '/usr/bin'];
  return [userFolder, '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/snap/bin'];
}

/**
 * Returns whether a program may be started without a dialog: on a Mac without Apple's developer tools those in `/usr/bin`
 * are only placeholders, which ask to install the tools.
 */
export async function mayRun(
  path: string,
  platform: NodeJS.Platform,
  selectTools: () => Promise<{ readonly ok: boolean }> = () =>
    runCommand('/usr/bin/xcode-select', ['-p'], { timeoutMs: 10_000 }),
): Promise<boolean> {
  if (platform !== 'darwin' || !/^\/usr\/bin\/(git|python3)$/.test(path)) return true;
  return (await selectTools()).ok;
}

/** Returns the absolute path of the first executable with this name in PATH and the usual folders. */
export async function systemPath(name: string): Promise<string | undefined> {
  const usual = getUsualFolders(currentPlatform);
  const folders = [...(process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''), ...usual];
  for (const folder of folders) {
    const path = join(folder, executableName(name));
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
