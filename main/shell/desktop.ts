import { join } from 'node:path';
import { FileReply } from '../../services/contracts/api.ts';
import { downloadsApi } from '../../services/contracts/downloads.ts';
import { DataFolderTaken } from '../host/data-lock.ts';
import type { Host, HostOptions } from '../host/host.ts';
import { pageOfLink, linkAmong } from '../desktop/deep-links.ts';
import { watchClipboard } from '../desktop/clipboard.ts';
import { openPreferences, type Store } from '../desktop/preferences.ts';
import { watchStatus } from '../desktop/status.ts';
import { ask } from '../desktop/ask.ts';
import { hasTray, type Run } from '../desktop/tray-presence.ts';
import { openUpdates, type Updater } from '../desktop/updates.ts';
import { systemClock } from '../host/clock.ts';
import { systemRandom } from '../host/random.ts';
import { openBridge } from './bridge.ts';
import type { ElectronParts } from './electron.ts';
import { safeKeyStore } from './key-wrapping.ts';
import { openLoginItem } from './login-item.ts';
import type { MenuActions } from './menu.ts';
import { electronNotifier } from './notifier.ts';
import { watchPower } from './power.ts';
import { guardContents, guardPermissions, openOutside, webPreferences } from './security.ts';
import { openTray, type AppTray } from './tray.ts';
import { createWindow } from './window.ts';

/** The installer's id as well; Windows shows no popups of a program under another one. */
export const appId = 'app.homeport.desktop';

export interface DesktopOptions {
  readonly parts: ElectronParts;
  /** What follows the program. */
  readonly argv: readonly string[];
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  /** Holds `assets/` and `main/shell/preload.cjs`. */
  readonly root: string;
  readonly dataDir: string;
  /** Start without showing the window. */
  readonly hidden: boolean;
  readonly openHost: (
    desktop: Required<Pick<HostOptions, 'notifier' | 'openAddress' | 'keyStore' | 'signal'>>,
  ) => Promise<Host>;
  /** Keeps the shell's preferences in a folder. */
  readonly openStore: (folder: string) => Store;
  readonly updater: Updater | undefined;
  readonly run: Run;
  /** Program and arguments that start the app as it runs now. */
  readonly command: readonly string[];
}

/** Starts the host and puts the app in the tray and in a window. Resolves once it runs, or has handed over to another instance. */
export async function startDesktop(options: DesktopOptions): Promise<void> {
  const { parts, platform, root, dataDir } = options;
  const { app, dialog, shell } = parts;
  app.setName('Homeport');
  app.setAppUserModelId(appId);
  // Chromium's own files: apart from the services', and one instance for each data folder.
  const profile = join(dataDir, 'desktop');
  app.setPath('userData', profile);
  if (!app.requestSingleInstanceLock()) return app.exit(0);

  const stopping = new AbortController();
  let host: Host | undefined;
  let quitting = false;
  const closing = new AsyncDisposableStack();
  const quit = async (): Promise<void> => {
    if (quitting) return;
    quitting = true;
    stopping.abort();
    const limit = setTimeout(() => app.exit(1), host?.stopTimeoutMs() ?? 10_000);
    await closing.disposeAsync().catch((error: unknown) => host?.log.error('the app did not close cleanly', { error }));
    clearTimeout(limit);
    app.exit(0);
  };
  app.on('before-quit', (event) => {
    event.preventDefault();
    void quit();
  });
  app.on('window-all-closed', () => undefined); // or Electron ends the app
  const own = (): string | undefined => host?.addresses()['control'];
  const note = (message: string) => (error: unknown) => host?.log.warn(message, { error });
  const openAddress = (address: string): void => {
    const path = address.slice(own()?.length ?? 0);
    if (own() !== undefined && address.startsWith(`${own() ?? ''}/`)) open(path);
    else openOutside(address, shell, note('an address could not be opened'));
  };

  let linked = pageOfLink(linkAmong(options.argv) ?? '');
  let wanted = !options.hidden || linked !== undefined;
  const open = (path: string): void => {
    const base = own();
    wanted = true;
    if (base === undefined) linked = path;
    else window.show(base + path);
  };
  app.on('second-instance', (_, argv) => {
    const link = linkAmong(argv);
    const path = link === undefined ? undefined : pageOfLink(link);
    if (path === undefined) window.show();
    else open(path);
  });
  app.on('open-url', (event, link) => {
    event.preventDefault();
    const path = pageOfLink(link);
    if (path !== undefined) open(path);
  });
  app.on('activate', () => window.show());
  app.setAsDefaultProtocolClient('homeport');
  guardContents(parts, own, note('an address could not be opened'));

  await app.whenReady();
  // The pages have their own; macOS needs its menu for copy and paste.
  if (platform !== 'darwin') parts.Menu.setApplicationMenu(null);
  guardPermissions(parts.session.defaultSession, own);
  const preferences = openPreferences(options.openStore(profile));
  const notifier = electronNotifier(parts.Notification, platform);
  const trayShown = await hasTray(platform, options.run);
  const window = createWindow({
    parts,
    preferences,
    webPreferences: webPreferences(join(root, 'main', 'shell', 'preload.cjs')),
    icon: join(root, 'assets', 'icon.png'),
    dark: parts.nativeTheme.shouldUseDarkColors,
    hidesToTray: () => trayShown && preferences.get('keepRunning'),
    explain: () =>
      notifier.show(
        {
          ...{ id: 'desktop-tray', title: 'Homeport goes on in the tray', urgency: 'low', silent: true, actions: [] },
          body: 'Its services keep running. Quit it from the menu of its icon.',
          group: 'homeport',
        },
        () => undefined,
      ),
    quit: () => app.quit(),
  });
  closing.defer(() => window.release());
  const loginItem = openLoginItem({ app, platform, environment: options.environment, command: options.command });

  try {
    host = closing.use(
      await options.openHost({
        notifier,
        openAddress,
        keyStore: safeKeyStore(parts.safeStorage, platform),
        signal: stopping.signal,
      }),
    );
  } catch (error) {
    if (quitting) return;
    if (error instanceof DataFolderTaken && error.holder?.url !== undefined) {
      // It runs without a window, as on a server: its pages are in the browser.
      await shell.openExternal(error.holder.url);
      return app.exit(0);
    }
    dialog.showErrorBox('Homeport could not start', error instanceof Error ? error.message : String(error));
    return app.exit(1);
  }
  const running = host;
  watchPower(parts.powerMonitor, running);
  const base = own();
  if (base === undefined) dialog.showErrorBox('Homeport has no page', running.failures()['control'] ?? '');
  const session = base === undefined ? undefined : await running.signInWindow();
  if (session !== undefined) closing.defer(() => session.end());

  let tray: AppTray | undefined;
  let startsAtLogin = await loginItem.get();
  const status = closing.use(await watchStatus(running, () => show()));
  const updates = closing.use(
    openUpdates({
      ...{ updater: options.updater, clock: systemClock, random: systemRandom, log: running.log },
      busy: () => status.now().downloads > 0,
      changed: () => show(),
    }),
  );
  const show = (): void => {
    const keepsRunning = preferences.get('keepRunning');
    tray?.show({ ...status.now(), startsAtLogin, keepsRunning, update: updates.state(), now: systemClock.now() });
  };
  const startAtLogin = async (on: boolean): Promise<void> => {
    await loginItem.set(on);
    startsAtLogin = await loginItem.get();
    show();
  };
  const actions: MenuActions = {
    open,
    turn: (id, on) => {
      running.control.changeSettings(id, { enabled: on }).catch(note('a service could not be switched'));
    },
    restart: (id) => void running.control.restart(id).catch(note('a service could not be started')),
    copy: (text) => void parts.clipboard.writeText(text),
    pause: (until) => void running.popups.pause(until),
    startAtLogin: (on) => void startAtLogin(on).catch(note('start at login could not be changed')),
    keepRunning(on) {
      preferences.set('keepRunning', on);
      show();
    },
    checkForUpdate: () => void updates.check(),
    quit: () => app.quit(),
  };
  const clipboard = closing.use(
    watchClipboard({
      ...{ clock: systemClock, notifier, open },
      read: async () => await parts.clipboard.readText(),
      onError: note('the clipboard could not be read'),
    }),
  );
  clipboard.turn(preferences.get('watchClipboard'));
  openBridge(parts.ipcMain, own, {
    info: async () => ({ version: running.control.version, platform }),
    quit: async () => app.quit(),
    hide: async () => window.hide(),
    session: async () => session?.secret ?? null,
    async pickFolder({ from }) {
      const { filePaths } = await dialog.showOpenDialog({
        defaultPath: from,
        properties: ['openDirectory', 'createDirectory'],
      });
      return filePaths[0] ?? null;
    },
    async showDownload({ uid }) {
      const file = await ask(running, downloadsApi.file, { params: { uid } }).catch(() => undefined);
      if (!(file instanceof FileReply)) return false;
      shell.showItemInFolder(file.path);
      return true;
    },
    watchesClipboard: async () => preferences.get('watchClipboard'),
    async watchClipboard({ on }) {
      preferences.set('watchClipboard', on);
      clipboard.turn(on);
    },
    startsAtLogin: () => loginItem.get(),
    startAtLogin: ({ on }) => startAtLogin(on),
    update: async () => updates.state(),
    checkForUpdate: () => updates.check(),
  });
  if (trayShown) {
    tray = closing.use(openTray(parts, { images: join(root, 'assets', 'tray'), platform, actions }));
    show();
  }
  const setup = await running.setupUrl();
  if (base !== undefined && wanted) window.show(setup ?? base + (linked ?? '/'));
}
