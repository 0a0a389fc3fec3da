import type { DesktopBridge } from '../../services/contracts/control/desktop.ts';
import { getCloseBehavior, setCloseBehavior } from '../desktop/closing.ts';
import type { LoginItem } from '../host/platform/autostart.ts';
import type { ClipboardWatch } from '../desktop/clipboard.ts';
import type { Preferences } from '../desktop/preferences.ts';
import type { Updates } from '../desktop/updates.ts';
import { version } from '../host/runtime/version.ts';
import type { ElectronApi } from './electron.ts';
import type { HostConnection } from './host-connection.ts';
import type { AppWindow } from './window.ts';

/** Preferences that the pages show and change. */
export interface PagePreferences {
  readonly stored: Preferences;
  readonly loginItem: LoginItem;
  /** Returns whether an icon in the tray currently leads back to the app. */
  readonly inTray: () => boolean;
  readonly setStartAtLogin: (on: boolean) => Promise<void>;
  /** Called after the effect of closing the window was changed. */
  readonly changed: () => void;
}

export interface BridgeDependencies {
  readonly parts: Pick<ElectronApi, 'app' | 'dialog' | 'shell'>;
  readonly platform: NodeJS.Platform;
  readonly window: AppWindow;
  readonly connection: HostConnection;
  readonly preferences: PagePreferences;
  readonly clipboard: ClipboardWatch;
  readonly updates: Updates;
}

/** Creates the handlers for calls of the pages. */
export function createBridgeHandlers(dependencies: BridgeDependencies): DesktopBridge {
  const { parts, platform, window, connection, clipboard, updates } = dependencies;
  const { stored, loginItem, inTray, setStartAtLogin, changed } = dependencies.preferences;
  return {
    info: async () => ({ version, platform }),
    quit: async () => parts.app.quit(),
    hide: async () => window.hide(),
    session: async () => connection.session,
    async pickFolder({ from }) {
      const { filePaths } = await parts.dialog.showOpenDialog({
        defaultPath: from,
        properties: ['openDirectory', 'createDirectory'],
      });
      return filePaths[0] ?? null;
    },
    showDownload: async ({ uid }) => {
      const file = await connection.host?.ask('downloadFile', uid);
      if (typeof file !== 'string') return false;
      parts.shell.showItemInFolder(file);
      return true;
    },
    watchesClipboard: async () => stored.get('watchClipboard'),
    async watchClipboard({ on }) {
      stored.set('watchClipboard', on);
      clipboard.turn(on);
    },
    startsAtLogin: () => loginItem.get(),
    startAtLogin: ({ on }) => setStartAtLogin(on),
    whenClosed: async () => getCloseBehavior(stored, inTray()),
    setWhenClosed: async ({ choice }) => {
      setCloseBehavior(stored, inTray(), choice);
      changed();
    },
    update: async () => updates.state(),
    checkForUpdate: () => updates.check(),
  };
}
