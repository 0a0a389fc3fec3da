import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../host/runtime/version.ts';
import { systemClock } from '../host/runtime/clock.ts';
import { systemRandom } from '../host/runtime/random.ts';
import { watchClipboard } from '../desktop/clipboard.ts';
import { decideClosing, setCloseBehavior, getCloseBehavior } from '../desktop/closing.ts';
import { findLinkedPage, findLink } from '../desktop/deep-links.ts';
import { superviseHostProcess, type HostProcess } from '../desktop/host-process.ts';
import type { OpenedHost } from '../desktop/host-line.ts';
import { openPreferences, type Store } from '../desktop/preferences.ts';
import { emptyStatus, type HostStatus } from '../desktop/status.ts';
import { hasTray, type Run } from '../desktop/tray-presence.ts';
import { getPhaseNotice } from '../desktop/tray-state.ts';
import { openUpdates, type Updater } from '../desktop/updates.ts';
import { openBridge } from './bridge.ts';
import { showCloseDialog, showFailureDialog, showDataLossWarning, showTrayHint } from './dialogs.ts';
import type { ElectronApi } from './electron.ts';
import { forkHost } from './host-child.ts';
import { hostLog } from './host-log.ts';
import { createKeyHandlers } from './key-wrapping.ts';
import { openLoginItem } from './login-item.ts';
import type { MenuActions } from './menu.ts';
import { electronNotifier } from './notifier.ts';
import { watchPower } from './power.ts';
import { guardContents, guardPermissions, openOutside, webPreferences } from './security.ts';
import { openTray, type AppTray } from './tray.ts';
import { createWindow } from './window.ts';

/** Same as the id of the installer; Windows shows popups only under a registered id. */
export const appId = 'app.homeport.desktop';

export interface DesktopOptions {
  readonly parts: ElectronApi;
  /** Arguments of the program. */
  readonly argv: readonly string[];
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  /** Folder of `assets/` and `main/shell/`. */
  readonly root: string;
  readonly dataDir: string;
  /** Starts with a hidden window. */
  readonly hidden: boolean;
  /** Arguments of the host process. */
  readonly hostArgv: readonly string[];
  /** Opens the store of the shell's preferences in a folder. */
  readonly openStore: (folder: string) => Store;
  readonly updater: Updater | undefined;
  readonly run: Run;
  /** Program and arguments that start the app as it runs now. */
  readonly command: readonly string[];
}

/**
 * Starts the services in a separate process, and opens the tray and the window. Everything that Electron requires
 * before it is ready is done synchronously. Resolves once the app runs, or has handed over to another instance.
 */
export async function startDesktop(options: DesktopOptions): Promise<void> {
  const { parts, platform, root, dataDir } = options;
  const { app, dialog, shell } = parts;
  app.setName('Homeport');
  app.setAppUserModelId(appId);
  // Chromium's own files: separate from those of the services, with one instance per data folder.
  const profile = join(dataDir, 'desktop');
  // Electron requires an existing folder.
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  app.setPath('userData', profile);
  if (!app.requestSingleInstanceLock()) return app.exit(0);

  const begun = Promise.withResolvers<void>();
  const closing = new AsyncDisposableStack();
  let host: HostProcess | undefined = undefined;
  let page: string | undefined;
  /** Secret of the window's session, which its pages request. */
  let session: string | null = null;
  let status: HostStatus = emptyStatus;
  let tray: AppTray | undefined;
  const log = hostLog(() => host);
  const note = (message: string) => (error: unknown) => log.warn(message, { error });

  let quitting = false;
  const quit = async (): Promise<void> => {
    if (quitting) return;
    quitting = true;
    window.hide();
    await closing.disposeAsync().catch((error: unknown) => console.error('the app did not close cleanly', error));
    begun.resolve();
    app.exit(0);
  };
  app.on('before-quit', (event) => {
    event.preventDefault();
    void quit();
  });
  app.on('window-all-closed', () => undefined); // Without a listener, Electron ends the app.

  const preferences = openPreferences(options.openStore(profile));
  let path = findLinkedPage(findLink(options.argv) ?? '');
  let pendingPath = !options.hidden || path !== undefined;
  let ready = false;
  const waiting = () => getPhaseNotice(host?.phase() ?? 'starting', host?.reason() ?? null);
  const window = createWindow({
    parts,
    preferences,
    clock: systemClock,
    waiting,
    webPreferences: webPreferences(join(root, 'preload.cjs')),
    icon: join(root, 'assets', 'icon.png'),
    decide: () =>
      decideClosing({ preferences, inTray: () => tray !== undefined, showQuestion: showCloseDialog(dialog) }),
    hidden: () => showTrayHint(tray !== undefined, preferences, notifier),
    quit: () => app.quit(),
    failed: note('the window could not be closed'),
    failing: (retry) => void showFailureDialog(parts, page, retry).catch(note('the page could not be shown')),
  });
  const open = (wish: string): void => {
    path = wish;
    pendingPath = true;
    if (ready) window.open(wish);
  };
  const bringBack = (): void => {
    pendingPath = true;
    if (ready) window.bringBack(path ?? '/');
  };
  app.on('second-instance', (_, argv) => {
    const link = findLinkedPage(findLink(argv) ?? '');
    if (link === undefined) bringBack();
    else open(link);
  });
  app.on('open-url', (event, link) => {
    event.preventDefault();
    const linked = findLinkedPage(link);
    if (linked !== undefined) open(linked);
  });
  app.on('activate', bringBack);
  app.setAsDefaultProtocolClient('homeport');
  const own = (): string | undefined => page;
  guardContents(parts, own, note('an address could not be opened'));
  const notifier = electronNotifier(parts.Notification, platform);

  await app.whenReady();
  ready = true;
  // The pages have their own menu; macOS needs one for copy and paste.
  if (platform !== 'darwin') parts.Menu.setApplicationMenu(null);
  guardPermissions(parts.session.defaultSession, own);
  const loginItem = openLoginItem({ app, platform, environment: options.environment, command: options.command });
  let startsAtLogin = await loginItem.get();
  closing.use(notifier);
  closing.defer(() => window.release());
  const updates = closing.use(
    openUpdates({
      updater: options.updater,
      clock: systemClock,
      random: systemRandom,
      log,
      busy: () => status.downloads > 0,
      changed: () => show(),
    }),
  );
  const show = (): void => {
    const phase = host?.phase() ?? 'starting';
    const keepsRunning = preferences.get('keepRunning');
    tray?.show({ ...status, phase, startsAtLogin, keepsRunning, update: updates.state(), now: systemClock.now() });
  };
  const startAtLogin = async (on: boolean): Promise<void> => {
    await loginItem.set(on);
    startsAtLogin = await loginItem.get();
    show();
  };
  const clipboard = closing.use(
    watchClipboard({
      clock: systemClock,
      notifier,
      open,
      read: async () => await parts.clipboard.readText(),
      onError: note('the clipboard could not be read'),
    }),
  );
  clipboard.turn(preferences.get('watchClipboard'));
  const actions: MenuActions = {
    open,
    turn: (id, on) => void host?.ask('turn', { id, on }).catch(note('a service could not be switched')),
    restart: (id) => void host?.ask('restart', id).catch(note('a service could not be started')),
    startAgain: () => host?.restart(),
    copy: (text) => void parts.clipboard.writeText(text).catch(note('an address could not be copied')),
    pause: (until) => void host?.ask('pause', until).catch(note('popups could not be paused')),
    startAtLogin: (on) => void startAtLogin(on).catch(note('start at login could not be changed')),
    keepRunning(on) {
      preferences.set('keepRunning', on);
      show();
    },
    checkForUpdate: () => void updates.check(),
    quit: () => app.quit(),
  };
  openBridge(parts.ipcMain, own, {
    info: async () => ({ version, platform }),
    quit: async () => app.quit(),
    hide: async () => window.hide(),
    session: async () => session,
    async pickFolder({ from }) {
      const { filePaths } = await dialog.showOpenDialog({
        defaultPath: from,
        properties: ['openDirectory', 'createDirectory'],
      });
      return filePaths[0] ?? null;
    },
    async showDownload({ uid }) {
      const file = await host?.ask('downloadFile', uid);
      if (typeof file !== 'string') return false;
      shell.showItemInFolder(file);
      return true;
    },
    watchesClipboard: async () => preferences.get('watchClipboard'),
    async watchClipboard({ on }) {
      preferences.set('watchClipboard', on);
      clipboard.turn(on);
    },
    startsAtLogin: () => loginItem.get(),
    startAtLogin: ({ on }) => startAtLogin(on),
    whenClosed: async () => getCloseBehavior(preferences, tray !== undefined),
    async setWhenClosed({ choice }) {
      setCloseBehavior(preferences, tray !== undefined, choice);
      show();
    },
    update: async () => updates.state(),
    checkForUpdate: () => updates.check(),
  });
  if (await hasTray(platform, options.run)) {
    tray = closing.use(openTray(parts, { images: join(root, 'assets', 'tray'), platform, actions }));
  }

  /** Number of the current host process, since processes do not know each other's popups. */
  let generation = 0;
  const opened = (facts: OpenedHost): void => {
    page = facts.page ?? undefined;
    ({ status, session } = facts);
    show();
    if (page === undefined) dialog.showErrorBox('Homeport has no page', facts.problem);
    else {
      window.serve(page);
      if (generation === 1 && pendingPath) window.open(facts.setup?.slice(page.length) ?? path ?? '/');
    }
    begun.resolve();
  };
  if (quitting) return;
  host = closing.use(
    superviseHostProcess({
      fork: () => {
        generation += 1;
        const entry = join(root, 'host', 'main-shell-host-entry.js');
        return forkHost(parts.utilityProcess, { entry, argv: [root, ...options.hostArgv] });
      },
      clock: systemClock,
      answers: {
        ...createKeyHandlers(parts.safeStorage, platform),
        changed(now) {
          status = now;
          show();
        },
        pageMoved(base) {
          page = base ?? page;
          window.serve(base ?? undefined);
        },
        show({ ticket, popup }) {
          const shownBy = generation;
          notifier.show(popup, (event) => {
            // An ending host receives no more events; one that ended unexpectedly has left the messages in the inbox.
            if (shownBy === generation) host?.ask('popupEvent', { ticket, event }).catch(() => undefined);
            else if (event === 'clicked') open('/inbox');
          });
        },
        closePopups: async () => await notifier[Symbol.asyncDispose](),
        openAddress(address) {
          if (page !== undefined && address.startsWith(`${page}/`)) open(address.slice(page.length));
          else openOutside(address, shell, note('an address could not be opened'));
        },
      },
      opened,
      refused({ reason, runningAt }) {
        if (quitting) return;
        if (runningAt === null) dialog.showErrorBox('Homeport could not start', reason);
        // It runs without a window, as on a server: its pages open in the browser.
        const browserOpened = runningAt === null ? Promise.resolve() : shell.openExternal(runningAt);
        browserOpened
          .catch(() => undefined)
          .finally(() => {
            app.exit(runningAt === null ? 1 : 0);
            begun.resolve();
          });
      },
      lost: () => showDataLossWarning(notifier),
      changed(phase) {
        show();
        if (phase !== 'running' && phase !== 'silent') window.serve(undefined);
        window.renew();
      },
    }),
  );
  show();
  watchPower(parts.powerMonitor, host, log);
  await begun.promise;
}
