import { access, constants, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { currentPlatform } from './current-platform.ts';
import { executableName } from './executables.ts';
import { getPathRules, joinFileName, listPathFolders } from './path-rules.ts';

/**
 * Returns the folders that are searched for a program in addition to the PATH. An app that was started from the desktop of
 * macOS has the PATH `/usr/bin:/bin:/usr/sbin:/sbin`, and installers for Windows do not always extend it.
 */
export function getUsualFolders(
  platform: NodeJS.Platform = currentPlatform,
  environment: NodeJS.ProcessEnv = process.env,
  home = homedir(),
): readonly string[] {
  const path = getPathRules(platform);
  if (platform === 'win32') {
    const programs = environment['ProgramFiles'] ?? 'C:\\Program Files';
    const local = environment['LOCALAPPDATA'] ?? path.join(home, 'AppData', 'Local');
    return [
      path.join(programs, 'Git', 'cmd'),
      path.join(local, 'Programs', 'Git', 'cmd'),
      path.join(local, 'Microsoft', 'WinGet', 'Links'),
      path.join(home, '.deno', 'bin'),
      path.join(home, '.bun', 'bin'),
      path.join(programs, 'nodejs'),
    ];
  }
  const userFolders = ['.local', '.deno', '.bun'].map((folder) => path.join(home, folder, 'bin'));
  if (platform === 'darwin')
    return [...userFolders, '/opt/homebrew/bin', '/usr/local/bin', '/opt/local/bin', '/usr/bin'];
  return [...userFolders, '/usr/local/bin', '/usr/bin', '/opt/homebrew/bin', '/snap/bin'];
}

/** Options of {@link findProgram}. */
export interface FindProgramOptions {
  readonly platform?: NodeJS.Platform;
  readonly environment?: NodeJS.ProcessEnv;
  /** Returns false for a file that must not be used although it is executable. */
  readonly accepts?: (path: string) => Promise<boolean>;
}

/** Returns the absolute path of the first executable with this name in the PATH and the usual folders. */
export async function findProgram(
  name: string,
  { platform = currentPlatform, environment = process.env, accepts }: FindProgramOptions = {},
): Promise<string | undefined> {
  for (const folder of [...listPathFolders(platform, environment), ...getUsualFolders(platform, environment)]) {
    const path = joinFileName(folder, executableName(name, platform), platform);
    if ((await isExecutable(path)) && (accepts === undefined || (await accepts(path)))) return path;
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
