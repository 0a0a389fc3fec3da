import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import type { Log } from '../../services/contracts/service.ts';
import type { DesktopBridge } from '../../services/contracts/control/desktop.ts';
import { version } from '../host/runtime/version.ts';
import { systemClock } from '../host/runtime/clock.ts';
import { systemRandom } from '../host/runtime/random.ts';
import type { LoginItem } from '../host/platform/autostart.ts';
import { watchClipboard, type ClipboardWatch } from '../desktop/clipboard.ts';
import { decideClosing, setCloseBehavior, getCloseBehavior } from '../desktop/closing.ts';
import { findLinkedPage, findLink } from '../desktop/deep-links.ts';
import { superviseHostProcess, type HostPhase, type HostProcess } from '../desktop/host-process.ts';
import type { OpenedHost, Refusal, ShellAnswers } from '../desktop/host-line.ts';
import { openPreferences, type Preferences, type Store } from '../desktop/preferences.ts';
import { emptyStatus, type HostStatus } from '../desktop/status.ts';
import { hasTray, type Run } from '../desktop/tray-presence.ts';
import { getPhaseNotice } from '../desktop/tray-state.ts';
import { openUpdates, type Updater, type Updates } from '../desktop/updates.ts';
import { openBridge } from './bridge.ts';
import { offerMove, showCloseDialog, showFailureDialog, showDataLossWarning, showTrayHint } from './dialogs.ts';
import type { ElectronApi } from './electron.ts';
import { forkHost } from './host-child.ts';
import { hostLog } from './host-log.ts';
import { createKeyHandlers } from './key-wrapping.ts';
import { openLoginItem, wasOpenedAtLogin } from './login-item.ts';
import type { MenuActions } from './menu.ts';
import { electronNotifier } from './notifier.ts';
import { watchPower, watchShutdown } from './power.ts';
import { guardContents, guardPermissions, openOutside, webPreferences } from './security.ts';
import { openTray, type AppTray } from './tray.ts';
import { createWindow, type AppWindow } from './window.ts';

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
  const { app } = options.parts;
  app.setName('Homeport');
  app.setAppUserModelId(appId);
  // Chromium's own files: separate from those of the services, with one instance per data folder.
  const profile = join(options.dataDir, 'desktop');
  // Electron requires an existing folder.
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  app.setPath('userData', profile);
  if (!app.requestSingleInstanceLock()) return app.exit(0);
  await new DesktopApp(options, profile).run();
}

/** Running app: its window, its tray and the process of its services. */
class DesktopApp {
  readonly #options: DesktopOptions;
  readonly #preferences: Preferences;
  readonly #window: AppWindow;
  readonly #notifier: Notifier;
  readonly #log: Log = hostLog(() => this.#host);
  /** Resources that are closed when the app quits. */
  readonly #resources = new AsyncDisposableStack();
  /** Resolves once the app runs, quits or has failed to start. */
  readonly #started = Promise.withResolvers<void>();
  #host: HostProcess | undefined;
  /** Number of the current host process: processes have no access to each other's popups. */
  #generation = 0;
  /** Base address of the app's pages. */
  #pageBase: string | undefined;
  /** Secret of the window's session, which its pages request. */
  #session: string | null = null;
  #status: HostStatus = emptyStatus;
  #tray: AppTray | undefined;
  #updates: Updates | undefined;
  #startsAtLogin = false;
  /** Path that was opened last, or by the link that started the app. */
  #path: string | undefined;
  /** The window opens as soon as the pages are available. */
  #opensWindow: boolean;
  #isReady = false;
  #isQuitting = false;

  constructor(options: DesktopOptions, profile: string) {
    const { parts, platform } = options;
    this.#options = options;
    this.#followQuitting();
    this.#preferences = openPreferences(options.openStore(profile));
    this.#path = findLinkedPage(findLink(options.argv) ?? '');
    this.#opensWindow = !(options.hidden || wasOpenedAtLogin(parts.app, platform)) || this.#path !== undefined;
    this.#window = this.#createWindow();
    this.#followLinks();
    guardContents(parts, this.#getPageBase, this.#warn('an address could not be opened'));
    this.#notifier = electronNotifier(parts.Notification, platform);
  }

  /** Opens the tray and starts the services. */
  async run(): Promise<void> {
    const { parts, platform } = this.#options;
    await parts.app.whenReady();
    this.#isReady = true;
    watchShutdown(parts.powerMonitor, () => void this.#quit());
    // Only a window receives the end of the session, also when the app starts in the tray.
    if (platform === 'win32') this.#window.prepare();
    // The pages have their own menu; macOS needs one for copy and paste.
    if (platform !== 'darwin') parts.Menu.setApplicationMenu(null);
    // Without a window, as at login, the services start without a question.
    if (this.#opensWindow && (await offerMove(parts, platform, this.#preferences))) return;
    guardPermissions(parts.session.defaultSession, this.#getPageBase);
    await this.#openControls();
    if (this.#isQuitting) return;
    const host = this.#resources.use(this.#startHost());
    this.#host = host;
    this.#updateTray();
    watchPower(parts.powerMonitor, host, this.#log);
    await this.#started.promise;
  }

  readonly #getPageBase = (): string | undefined => this.#pageBase;

  /** Returns a handler that logs an error with a message. */
  #warn(message: string): (error: unknown) => void {
    return (error) => this.#log.warn(message, { error });
  }

  #followQuitting(): void {
    const { app } = this.#options.parts;
    app.on('before-quit', (event) => {
      event.preventDefault();
      void this.#quit();
    });
    app.on('window-all-closed', () => undefined); // Without a listener, Electron ends the app.
  }

  async #quit(): Promise<void> {
    if (this.#isQuitting) return;
    this.#isQuitting = true;
    this.#window.hide();
    await this.#resources
      .disposeAsync()
      .catch((error: unknown) => console.error('the app did not close cleanly', error));
    this.#started.resolve();
    this.#options.parts.app.exit(0);
  }

  #createWindow(): AppWindow {
    const { parts, root } = this.#options;
    const preferences = this.#preferences;
    return createWindow({
      parts,
      preferences,
      clock: systemClock,
      waiting: () => getPhaseNotice(this.#host?.phase() ?? 'starting', this.#host?.reason() ?? null),
      appearance: { webPreferences: webPreferences(join(root, 'preload.cjs')), icon: join(root, 'assets', 'icon.png') },
      closing: {
        decide: () =>
          decideClosing({
            preferences,
            inTray: () => this.#tray !== undefined,
            showQuestion: showCloseDialog(parts.dialog),
          }),
        hidden: () => showTrayHint(this.#tray !== undefined, preferences, this.#notifier),
        quit: () => parts.app.quit(),
        // Windows emits no 'before-quit' then, and waits a few seconds for programs that delay the end of the session.
        sessionEnds: (event) => {
          event.preventDefault();
          void this.#quit();
        },
      },
      failed: this.#warn('the window could not be closed'),
      failing: (retry) =>
        void showFailureDialog(parts, this.#pageBase, retry).catch(this.#warn('the page could not be shown')),
    });
  }

  /** Opens a path of the app in the window, at the latest when Electron is ready. */
  readonly #open = (path: string): void => {
    this.#path = path;
    this.#opensWindow = true;
    if (this.#isReady) this.#window.open(path);
  };

  readonly #bringBack = (): void => {
    this.#opensWindow = true;
    if (this.#isReady) this.#window.bringBack(this.#path ?? '/');
  };

  /** Opens the links of other programs and the window of a second start. */
  #followLinks(): void {
    const { app } = this.#options.parts;
    app.on('second-instance', (_, argv) => {
      const link = findLinkedPage(findLink(argv) ?? '');
      if (link === undefined) this.#bringBack();
      else this.#open(link);
    });
    app.on('open-url', (event, link) => {
      event.preventDefault();
      const linked = findLinkedPage(link);
      if (linked !== undefined) this.#open(linked);
    });
    app.on('activate', this.#bringBack);
    // From source, the system would start Electron without the path of the app.
    if (app.isPackaged) app.setAsDefaultProtocolClient('homeport');
  }

  /** Opens the tray, the updates and the answers to the pages. */
  async #openControls(): Promise<void> {
    const { parts, platform, root, environment, command, run, updater } = this.#options;
    const loginItem = openLoginItem({ app: parts.app, platform, environment, command });
    this.#startsAtLogin = await loginItem.get();
    this.#resources.use(this.#notifier);
    this.#resources.defer(() => this.#window.release());
    const updates = this.#resources.use(
      openUpdates({
        updater,
        clock: systemClock,
        random: systemRandom,
        log: this.#log,
        busy: () => this.#status.downloads > 0,
        changed: () => this.#updateTray(),
      }),
    );
    this.#updates = updates;
    const clipboard = this.#resources.use(
      watchClipboard({
        clock: systemClock,
        notifier: this.#notifier,
        open: this.#open,
        read: async () => await parts.clipboard.readText(),
        onError: this.#warn('the clipboard could not be read'),
      }),
    );
    clipboard.turn(this.#preferences.get('watchClipboard'));
    openBridge(parts.ipcMain, this.#getPageBase, this.#createBridge(loginItem, clipboard, updates));
    if (await hasTray(platform, run)) {
      const actions = this.#createMenuActions(loginItem, updates);
      this.#tray = this.#resources.use(openTray(parts, { images: join(root, 'assets', 'tray'), platform, actions }));
    }
  }

  #updateTray(): void {
    this.#tray?.show({
      ...this.#status,
      phase: this.#host?.phase() ?? 'starting',
      startsAtLogin: this.#startsAtLogin,
      keepsRunning: this.#preferences.get('keepRunning'),
      update: this.#updates?.state() ?? 'absent',
      now: systemClock.now(),
    });
  }

  async #setStartAtLogin(loginItem: LoginItem, on: boolean): Promise<void> {
    await loginItem.set(on);
    this.#startsAtLogin = await loginItem.get();
    this.#updateTray();
  }

  #createMenuActions(loginItem: LoginItem, updates: Updates): MenuActions {
    const { app, clipboard } = this.#options.parts;
    return {
      open: this.#open,
      services: {
        turn: (id, on) => void this.#host?.ask('turn', { id, on }).catch(this.#warn('a service could not be switched')),
        restart: (id) => void this.#host?.ask('restart', id).catch(this.#warn('a service could not be started')),
        startAgain: () => this.#host?.restart(),
      },
      copy: (text) => void clipboard.writeText(text).catch(this.#warn('an address could not be copied')),
      pause: (until) => void this.#host?.ask('pause', until).catch(this.#warn('popups could not be paused')),
      preferences: {
        startAtLogin: (on) =>
          void this.#setStartAtLogin(loginItem, on).catch(this.#warn('start at login could not be changed')),
        keepRunning: (on) => {
          this.#preferences.set('keepRunning', on);
          this.#updateTray();
        },
      },
      checkForUpdate: () => void updates.check(),
      quit: () => app.quit(),
    };
  }

  /** Creates the handlers for calls of the pages. */
  #createBridge(loginItem: LoginItem, clipboard: ClipboardWatch, updates: Updates): DesktopBridge {
    const { parts, platform } = this.#options;
    const preferences = this.#preferences;
    return {
      info: async () => ({ version, platform }),
      quit: async () => parts.app.quit(),
      hide: async () => this.#window.hide(),
      session: async () => this.#session,
      async pickFolder({ from }) {
        const { filePaths } = await parts.dialog.showOpenDialog({
          defaultPath: from,
          properties: ['openDirectory', 'createDirectory'],
        });
        return filePaths[0] ?? null;
      },
      showDownload: async ({ uid }) => {
        const file = await this.#host?.ask('downloadFile', uid);
        if (typeof file !== 'string') return false;
        parts.shell.showItemInFolder(file);
        return true;
      },
      watchesClipboard: async () => preferences.get('watchClipboard'),
      async watchClipboard({ on }) {
        preferences.set('watchClipboard', on);
        clipboard.turn(on);
      },
      startsAtLogin: () => loginItem.get(),
      startAtLogin: ({ on }) => this.#setStartAtLogin(loginItem, on),
      whenClosed: async () => getCloseBehavior(preferences, this.#tray !== undefined),
      setWhenClosed: async ({ choice }) => {
        setCloseBehavior(preferences, this.#tray !== undefined, choice);
        this.#updateTray();
      },
      update: async () => updates.state(),
      checkForUpdate: () => updates.check(),
    };
  }

  #startHost(): HostProcess {
    const { parts, root, hostArgv, platform } = this.#options;
    return superviseHostProcess({
      fork: () => {
        this.#generation += 1;
        const entry = join(root, 'host', 'main-shell-host-entry.js');
        return forkHost(parts.utilityProcess, {
          entry,
          argv: [root, ...hostArgv],
          downloadsFolder: platform === 'linux' ? undefined : parts.app.getPath('downloads'),
        });
      },
      clock: systemClock,
      answers: this.#createShellAnswers(),
      opened: (host) => this.#showHost(host),
      refused: (refusal) => this.#refuse(refusal),
      lost: () => showDataLossWarning(this.#notifier),
      changed: (phase) => this.#showPhase(phase),
    });
  }

  /** Creates the handlers for calls of the host process. */
  #createShellAnswers(): Omit<ShellAnswers, 'opened' | 'refused'> {
    const { parts, platform } = this.#options;
    return {
      ...createKeyHandlers(parts.safeStorage, platform),
      changed: (status) => {
        this.#status = status;
        this.#updateTray();
      },
      pageMoved: (base) => {
        this.#pageBase = base ?? this.#pageBase;
        this.#window.serve(base ?? undefined);
      },
      show: ({ ticket, popup }) => {
        const shownBy = this.#generation;
        this.#notifier.show(popup, (event) => {
          // An ending host receives no more events; one that ended unexpectedly has left the messages in the inbox.
          if (shownBy === this.#generation) this.#host?.ask('popupEvent', { ticket, event }).catch(() => undefined);
          else if (event === 'clicked') this.#open('/inbox');
        });
      },
      closePopups: async () => await this.#notifier[Symbol.asyncDispose](),
      openAddress: (address) => {
        const base = this.#pageBase;
        if (base !== undefined && address.startsWith(`${base}/`)) this.#open(address.slice(base.length));
        else openOutside(address, parts.shell, this.#warn('an address could not be opened'));
      },
    };
  }

  #showHost(host: OpenedHost): void {
    const page = host.page ?? undefined;
    this.#pageBase = page;
    this.#status = host.status;
    this.#session = host.session;
    this.#updateTray();
    if (page === undefined) this.#options.parts.dialog.showErrorBox('Homeport has no page', host.problem);
    else {
      this.#window.serve(page);
      if (this.#generation === 1 && this.#opensWindow) {
        this.#window.open(host.setup?.slice(page.length) ?? this.#path ?? '/');
      }
    }
    this.#started.resolve();
  }

  /** Ends the app because its services cannot run, or are already running. */
  #refuse({ reason, runningAt }: Refusal): void {
    if (this.#isQuitting) return;
    const { app, dialog, shell } = this.#options.parts;
    if (runningAt === null) dialog.showErrorBox('Homeport could not start', reason);
    // It runs without a window, as on a server: its pages open in the browser.
    const browserOpened = runningAt === null ? Promise.resolve() : shell.openExternal(runningAt);
    browserOpened
      .catch(() => undefined)
      .finally(() => {
        app.exit(runningAt === null ? 1 : 0);
        this.#started.resolve();
      });
  }

  #showPhase(phase: HostPhase): void {
    this.#updateTray();
    if (phase !== 'running' && phase !== 'silent') this.#window.serve(undefined);
    this.#window.renew();
  }
}
