import { homedir } from 'node:os';
import { getPathRules } from '../../../services/kit/platform/path-rules.ts';

/**
 * Returns the absolute path of the data folder: the flag, else HOMEPORT_DATA_DIR, else the operating system's usual
 * folder. A relative path refers to the working folder.
 */
export function getDataDir(
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string = homedir(),
): string {
  const path = getPathRules(platform);
  const folder = flag ?? isNotEmpty(environment['HOMEPORT_DATA_DIR']);
  if (folder !== undefined) return path.resolve(folder);
  if (platform === 'win32')
    return path.join(isNotEmpty(environment['LOCALAPPDATA']) ?? path.join(home, 'AppData', 'Local'), 'homeport');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'homeport');
  const shared = isNotEmpty(environment['XDG_DATA_HOME']);
  // The XDG base directory specification ignores relative paths.
  const base = shared !== undefined && path.isAbsolute(shared) ? shared : path.join(home, '.local', 'share');
  return path.join(base, 'homeport');
}

function isNotEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
