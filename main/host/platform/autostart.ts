import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { getPathRules } from '../../../services/kit/platform/path-rules.ts';

/** Starts the app without its window when the user signs in to the computer. */
export interface LoginItem {
  get(): Promise<boolean>;
  set(on: boolean): Promise<void>;
}

/**
 * Implements autostart on Linux, where Electron has no login items, by a file of freedesktop.org's autostart
 * specification. It ignores a relative XDG_CONFIG_HOME.
 */
export function autostartFile(
  environment: NodeJS.ProcessEnv,
  command: readonly string[],
  platform: NodeJS.Platform = currentPlatform,
  home: string = homedir(),
): LoginItem {
  const path = getPathRules(platform);
  const folder = environment['XDG_CONFIG_HOME'] ?? '';
  const config = path.isAbsolute(folder) ? folder : path.join(home, '.config');
  const file = path.join(config, 'autostart', 'homeport.desktop');
  // An AppImage is mounted at a different path at each start; this variable is the path of the file itself.
  const program = environment['APPIMAGE'] ? [environment['APPIMAGE']] : command;
  return {
    async get() {
      if (!existsSync(file)) return false;
      // Desktops disable an entry instead of removing it.
      return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(await readFile(file, 'utf8'));
    },
    async set(on) {
      if (!on) return rm(file, { force: true });
      await mkdir(path.dirname(file), { recursive: true });
      const lines = [
        '[Desktop Entry]',
        'Type=Application',
        'Name=Homeport',
        `Exec=${[...program, '--hidden'].map(quoted).join(' ')}`,
        'Icon=homeport',
        'Terminal=false',
        'X-GNOME-Autostart-enabled=true',
      ];
      await writeFile(file, `${lines.join('\n')}\n`);
    },
  };
}

/** Quotes an argument of `Exec` by the desktop entry specification, then escapes it as a string value. */
function quoted(argument: string): string {
  const escaped = argument.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${escaped.replaceAll('\\', '\\\\')}"`;
}
