import * as m from '#messages/desktop';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import type { Log } from '../../services/contracts/service.ts';
import { systemClock } from '../host/runtime/clock.ts';
import { decideClosing, type Closing } from '../desktop/closing.ts';
import { findLinkedPage, findLink } from '../desktop/deep-links.ts';
import type { HostPhase } from '../desktop/host-process.ts';
import type { OpenedHost, Refusal } from '../desktop/host-line.ts';
import { openPreferences, type Preferences, type Store } from '../desktop/preferences.ts';
import type { Run } from '../desktop/tray-presence.ts';
import { getPhaseNotice } from '../desktop/tray-state.ts';
import type { Updater } from '../desktop/updates.ts';
import { DesktopControls } from './desktop-controls.ts';
import { offerMove, showCloseDialog, showFailureDialog, showTrayHint } from './dialogs.ts';
import type { ElectronApi } from './electron.ts';
import { HostConnection } from './host-connection.ts';
import { createErrorHandler, hostLog } from './host-log.ts';
import { applySystemLanguage } from './language.ts';
import { followLinks } from './links.ts';
import { wasOpenedAtLogin } from './login-item.ts';
import { electronNotifier } from './notifier.ts';
import { watchPower, watchShutdown } from './power.ts';
import { guardContents, guardPermissions, webPreferences } from './security.ts';
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
  readonly #connection: HostConnection;
  readonly #log: Log = hostLog(() => this.#connection.host);
  /** Resources that are closed when the app quits. */
  readonly #resources = new AsyncDisposableStack();
  /** Resolves once the app runs, quits or has failed to start. */
  readonly #started = Promise.withResolvers<void>();
  /** Resolves once it is known whether the desktop has a tray, or the app quits. */
  readonly #controlsOpened = Promise.withResolvers<void>();
  #controls: DesktopControls | undefined;
  /** Path that was opened last, or by the link that started the app. */
  #path: string | undefined;
  /** The window opens as soon as the pages are available. */
  #opensWindow: boolean;
  #isReady = false;
  #hasControls = false;
  #isQuitting = false;

  constructor(options: DesktopOptions, profile: string) {
    const { parts, platform } = options;
    this.#options = options;
    this.#followQuitting();
    this.#notifier = electronNotifier(parts.Notification, platform);
    this.#connection = this.#createConnection();
    this.#preferences = openPreferences(options.openStore(profile));
    this.#path = findLinkedPage(findLink(options.argv) ?? '');
    this.#opensWindow = !(options.hidden || wasOpenedAtLogin(parts.app, platform)) || this.#path !== undefined;
    this.#window = this.#createWindow();
    followLinks(parts.app, { open: this.#open, bringBack: this.#bringBack });
    guardContents(parts, this.#getPageBase, this.#warn('an address could not be opened'));
  }

  /** Opens the tray and starts the services. The user and the system can quit the app at any moment of the start. */
  async run(): Promise<void> {
    await this.#options.parts.app.whenReady();
    if (!this.#isQuitting) await this.#prepare();
    if (!this.#isQuitting) this.#startServices();
    await this.#started.promise;
  }

  /** Prepares Electron for the window, and opens the controls. */
  async #prepare(): Promise<void> {
    const { parts, platform } = this.#options;
    await applySystemLanguage(parts.app);
    this.#isReady = true;
    watchShutdown(parts.powerMonitor, () => void this.#quit());
    // Only a window receives the end of the session, also when the app starts in the tray.
    if (platform === 'win32') this.#window.prepare();
    // The pages have their own menu; macOS needs one for copy and paste.
    if (platform !== 'darwin') parts.Menu.setApplicationMenu(null);
    // Without a window, as at login, the services start without a question.
    // A move quits the app, which starts again from its new folder.
    if (this.#opensWindow && (await offerMove(parts, platform, this.#preferences))) return;
    if (this.#isQuitting) return;
    guardPermissions(parts.session.defaultSession, this.#getPageBase);
    await this.#openControls();
    this.#hasControls = true;
    this.#controlsOpened.resolve();
  }

  #startServices(): void {
    const host = this.#resources.use(this.#connection.start());
    this.#updateTray();
    watchPower(this.#options.parts.powerMonitor, host, this.#log);
  }

  readonly #getPageBase = (): string | undefined => this.#connection.pageBase;

  /** Returns a handler that logs an error with a message. */
  #warn(message: string): (error: unknown) => void {
    return createErrorHandler(this.#log, message);
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
    this.#controlsOpened.resolve();
    this.#window.hide();
    this.#window.release();
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
      waiting: () => getPhaseNotice(this.#connection.phase, this.#connection.host?.reason() ?? null),
      appearance: { webPreferences: webPreferences(join(root, 'preload.cjs')), icon: join(root, 'assets', 'icon.png') },
      closing: {
        decide: () => this.#decideClosing(),
        hidden: () => {
          // A window that was closed during the start stays hidden when the pages become available.
          this.#opensWindow = false;
          showTrayHint(this.#isInTray(), preferences, this.#notifier);
        },
        quit: () => parts.app.quit(),
        // Windows emits no 'before-quit' then, and waits a few seconds for programs that delay the end of the session.
        sessionEnds: (event) => {
          event.preventDefault();
          void this.#quit();
        },
      },
      failed: this.#warn('the window could not be closed'),
      failing: (retry) =>
        void showFailureDialog(parts, this.#getPageBase(), retry).catch(this.#warn('the page could not be shown')),
    });
  }

  /** Decides as soon as it is known whether a tray leads back to the app, which may be later than the first window. */
  #decideClosing(): Closing | Promise<Closing> {
    if (this.#isQuitting) return 'stay';
    if (!this.#hasControls) return this.#controlsOpened.promise.then(() => this.#decideClosing());
    return decideClosing({
      preferences: this.#preferences,
      inTray: () => this.#isInTray(),
      showQuestion: showCloseDialog(this.#options.parts.dialog),
    });
  }

  /** Opens a path of the app in the window, at the latest when Electron is ready. */
  readonly #open = (path: string): void => {
    if (this.#isQuitting) return;
    this.#path = path;
    this.#opensWindow = true;
    if (this.#isReady) this.#window.open(path);
  };

  readonly #bringBack = (): void => {
    if (this.#isQuitting) return;
    this.#opensWindow = true;
    if (this.#isReady) this.#window.bringBack(this.#path ?? '/');
  };

  async #openControls(): Promise<void> {
    this.#resources.use(this.#notifier);
    this.#controls = new DesktopControls({
      options: this.#options,
      preferences: this.#preferences,
      notifier: this.#notifier,
      window: this.#window,
      connection: this.#connection,
      open: this.#open,
      log: this.#log,
    });
    await this.#controls.open(this.#resources);
  }

  #isInTray(): boolean {
    return this.#controls?.inTray === true;
  }

  #updateTray(): void {
    this.#controls?.updateTray();
  }

  #createConnection(): HostConnection {
    const { parts, root, hostArgv, platform } = this.#options;
    return new HostConnection({
      parts,
      program: { root, hostArgv, platform },
      notifier: this.#notifier,
      events: {
        opened: (host) => this.#showHost(host),
        refused: (refusal) => this.#refuse(refusal),
        changed: () => this.#updateTray(),
        phaseChanged: (phase) => this.#showPhase(phase),
        pageMoved: (base) => this.#window.serve(base),
      },
      open: this.#open,
      log: this.#log,
    });
  }

  #showHost(host: OpenedHost): void {
    const page = host.page ?? undefined;
    this.#updateTray();
    if (page === undefined) this.#options.parts.dialog.showErrorBox(m.noPage(), host.problem);
    else {
      this.#window.serve(page);
      if (this.#connection.isFirstProcess && this.#opensWindow) {
        this.#window.open(host.setup?.slice(page.length) ?? this.#path ?? '/');
      }
    }
    this.#started.resolve();
  }

  /** Ends the app because its services cannot run, or are already running. */
  #refuse({ reason, runningAt }: Refusal): void {
    if (this.#isQuitting) return;
    const { app, dialog, shell } = this.#options.parts;
    if (runningAt === null) dialog.showErrorBox(m.startFailed(), reason);
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
