import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Starts the app, without showing its window, when the person signs in to the computer. */
export interface LoginItem {
  get(): Promise<boolean>;
  set(on: boolean): Promise<void>;
}

/** Electron has no login item on Linux; desktops read this file (freedesktop.org's autostart specification). */
export function autostartFile(environment: NodeJS.ProcessEnv, command: readonly string[]): LoginItem {
  const config = environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  const file = join(config, 'autostart', 'homeport.desktop');
  // An AppImage is mounted elsewhere at each start; this names the file itself.
  const program = environment['APPIMAGE'] ? [environment['APPIMAGE']] : command;
  return {
    async get() {
      if (!existsSync(file)) return false;
      // Desktops switch an entry off in place of removing it.
      return !/^(Hidden\s*=\s*true|X-GNOME-Autostart-enabled\s*=\s*false)\s*$/m.test(await readFile(file, 'utf8'));
    },
    async set(on) {
      if (!on) return rm(file, { force: true });
      await mkdir(dirname(file), { recursive: true });
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

/** An argument of `Exec` by the desktop entry specification: quoted, then escaped once more as a string value. */
function quoted(argument: string): string {
  const escaped = argument.replace(/["`$\\]/g, '\\$&').replaceAll('%', '%%');
  return `"${escaped.replaceAll('\\', '\\\\')}"`;
}
