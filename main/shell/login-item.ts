import { autostartFile, type LoginItem } from '../host/platform/autostart.ts';
import type { ElectronApi } from './electron.ts';

export interface LoginItemOptions {
  readonly app: Pick<ElectronApi['app'], 'getLoginItemSettings' | 'setLoginItemSettings'>;
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  /** Program and arguments that start the app as it runs now. */
  readonly command: readonly string[];
}

export function openLoginItem({ app, platform, environment, command }: LoginItemOptions): LoginItem {
  if (platform === 'linux') return autostartFile(environment, command, platform);
  const [path = process.execPath, ...args] = command;
  // Windows stores one command line; Electron joins the arguments without quotes.
  const quoted = args.map((each) => (platform === 'win32' && each.includes(' ') ? `"${each}"` : each));
  const entry = { path, args: [...quoted, '--hidden'] };
  return {
    get: async () => app.getLoginItemSettings(entry).openAtLogin,
    set: async (on) => app.setLoginItemSettings({ ...entry, openAtLogin: on }),
  };
}

/** Returns whether macOS opened the app at login. It passes no arguments to login items, so `--hidden` is missing. */
export function wasOpenedAtLogin(
  app: Pick<ElectronApi['app'], 'getLoginItemSettings'>,
  platform: NodeJS.Platform,
): boolean {
  return platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;
}
