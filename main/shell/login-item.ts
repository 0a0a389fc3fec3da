import { autostartFile, type LoginItem } from '../desktop/autostart.ts';
import type { ElectronApi } from './electron.ts';

export interface LoginItemOptions {
  readonly app: Pick<ElectronApi['app'], 'getLoginItemSettings' | 'setLoginItemSettings'>;
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  /** Program and arguments that start the app as it runs now. */
  readonly command: readonly string[];
}

export function openLoginItem({ app, platform, environment, command }: LoginItemOptions): LoginItem {
  if (platform === 'linux') return autostartFile(environment, command);
  const [path = process.execPath, ...args] = command;
  const entry = { path, args: [...args, '--hidden'] };
  return {
    get: async () => app.getLoginItemSettings(entry).openAtLogin,
    set: async (on) => app.setLoginItemSettings({ ...entry, openAtLogin: on }),
  };
}
