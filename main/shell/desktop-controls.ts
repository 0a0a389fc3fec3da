import { join } from 'node:path';
import type { DesktopBridge } from '../../services/contracts/control/desktop.ts';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import type { Log } from '../../services/contracts/service.ts';
import type { LoginItem } from '../host/platform/autostart.ts';
import { watchClipboard, type ClipboardWatch } from '../desktop/clipboard.ts';
import type { Preferences } from '../desktop/preferences.ts';
import { hasTray, type Run } from '../desktop/tray-presence.ts';
import { openUpdates, type Updater, type Updates } from '../desktop/updates.ts';
import { systemClock } from '../host/runtime/clock.ts';
import { systemRandom } from '../host/runtime/random.ts';
import { createBridgeHandlers } from './bridge-handlers.ts';
import { openBridge } from './bridge.ts';
import type { ElectronApi } from './electron.ts';
import type { HostConnection } from './host-connection.ts';
import { createErrorHandler } from './host-log.ts';
import { openLoginItem } from './login-item.ts';
import { createMenuActions } from './menu-actions.ts';
import type { MenuActions } from './menu.ts';
import { openTray, type AppTray } from './tray.ts';
import type { AppWindow } from './window.ts';

/** Program and system that the controls belong to. */
export interface ControlsOptions {
  readonly parts: ElectronApi;
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  /** Folder of `assets/` and `main/shell/`. */
  readonly root: string;
  readonly updater: Updater | undefined;
  readonly run: Run;
  /** Program and arguments that start the app as it runs now. */
  readonly command: readonly string[];
}

export interface ControlsDependencies {
  readonly options: ControlsOptions;
  readonly preferences: Preferences;
  readonly notifier: Notifier;
  readonly window: AppWindow;
  readonly connection: HostConnection;
  /** Opens a path of the app in the window. */
  readonly open: (path: string) => void;
  readonly log: Log;
}

/** Controls of the app beside its window: the tray, the updates, the clipboard and the calls of the pages. */
export class DesktopControls {
  readonly #dependencies: ControlsDependencies;
  #tray: AppTray | undefined;
  #updates: Updates | undefined;
  #startsAtLogin = false;

  constructor(dependencies: ControlsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns whether an icon in the tray currently leads back to the app. */
  get inTray(): boolean {
    return this.#tray !== undefined;
  }

  /** Opens the controls; `resources` closes them. Returns early when it was disposed, because the app quits. */
  async open(resources: AsyncDisposableStack): Promise<void> {
    const { preferences, connection } = this.#dependencies;
    const { parts, platform, root, environment, command, run } = this.#dependencies.options;
    const loginItem = openLoginItem({ app: parts.app, platform, environment, command });
    this.#startsAtLogin = await loginItem.get();
    if (resources.disposed) return;
    const updates = resources.use(this.#openUpdates());
    this.#updates = updates;
    const clipboard = resources.use(this.#watchClipboard());
    clipboard.turn(preferences.get('watchClipboard'));
    openBridge(parts.ipcMain, () => connection.pageBase, this.#createBridge(loginItem, clipboard, updates));
    if (!(await hasTray(platform, run)) || resources.disposed) return;
    const actions = this.#createMenuActions(loginItem, updates);
    this.#tray = resources.use(openTray(parts, { images: join(root, 'assets', 'tray'), platform, actions }));
  }

  updateTray(): void {
    const { connection, preferences } = this.#dependencies;
    this.#tray?.show({
      ...connection.status,
      phase: connection.phase,
      startsAtLogin: this.#startsAtLogin,
      keepsRunning: preferences.get('keepRunning'),
      update: this.#updates?.state() ?? 'absent',
      now: systemClock.now(),
    });
  }

  #openUpdates(): Updates {
    const { connection, log, options } = this.#dependencies;
    return openUpdates({
      updater: options.updater,
      clock: systemClock,
      random: systemRandom,
      log,
      busy: () => connection.status.downloads > 0,
      changed: () => this.updateTray(),
    });
  }

  #watchClipboard(): ClipboardWatch {
    const { log, notifier, open, options } = this.#dependencies;
    return watchClipboard({
      clock: systemClock,
      notifier,
      open,
      read: async () => await options.parts.clipboard.readText(),
      onError: createErrorHandler(log, 'the clipboard could not be read'),
    });
  }

  async #setStartAtLogin(loginItem: LoginItem, on: boolean): Promise<void> {
    await loginItem.set(on);
    this.#startsAtLogin = await loginItem.get();
    this.updateTray();
  }

  #createMenuActions(loginItem: LoginItem, updates: Updates): MenuActions {
    const { connection, log, open, options, preferences } = this.#dependencies;
    const failed = createErrorHandler(log, 'start at login could not be changed');
    return createMenuActions({
      parts: options.parts,
      connection,
      preferences: {
        startAtLogin: (on) => void this.#setStartAtLogin(loginItem, on).catch(failed),
        keepRunning: (on) => {
          preferences.set('keepRunning', on);
          this.updateTray();
        },
      },
      updates,
      open,
      log,
    });
  }

  /** Creates the handlers for calls of the pages. */
  #createBridge(loginItem: LoginItem, clipboard: ClipboardWatch, updates: Updates): DesktopBridge {
    const { connection, options, preferences, window } = this.#dependencies;
    return createBridgeHandlers({
      parts: options.parts,
      platform: options.platform,
      window,
      connection,
      preferences: {
        stored: preferences,
        loginItem,
        inTray: () => this.inTray,
        setStartAtLogin: (on) => this.#setStartAtLogin(loginItem, on),
        changed: () => this.updateTray(),
      },
      clipboard,
      updates,
    });
  }
}
