import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';

/**
 * The data folder, absolute: the flag, else HOMEPORT_DATA_DIR, else the operating system's own place for a program's
 * data. A relative path counts from the working folder.
 */
export function dataDirOf(
  flag: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  home: string = homedir(),
): string {
  const path = platform === 'win32' ? win32 : posix;
  const chosen = flag ?? filled(environment['HOMEPORT_DATA_DIR']);
  if (chosen !== undefined) return path.resolve(chosen);
  if (platform === 'win32')
    return path.join(filled(environment['LOCALAPPDATA']) ?? path.join(home, 'AppData', 'Local'), 'homeport');
  if (platform === 'darwin') return path.join(home, 'Library', 'Application Support', 'homeport');
  const shared = filled(environment['XDG_DATA_HOME']);
  // The XDG base directory specification has relative paths ignored.
  const base = shared !== undefined && path.isAbsolute(shared) ? shared : path.join(home, '.local', 'share');
  return path.join(base, 'homeport');
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}
