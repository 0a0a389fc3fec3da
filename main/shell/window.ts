import type { BrowserWindowConstructorOptions, WebPreferences } from 'electron';
import type { Clock } from '../../services/contracts/service.ts';
import { isVisible } from '../desktop/bounds.ts';
import type { Closing } from '../desktop/closing.ts';
import type { Preferences } from '../desktop/preferences.ts';
import type { ElectronApi, ElectronWindow } from './electron.ts';
import { openPage, type PageOptions, type WindowPage } from './page.ts';

/** Icon of the window and settings of its page. */
export interface WindowAppearance {
  readonly webPreferences: WebPreferences;
  readonly icon: string;
}

/** Handlers of the window when it is closed. */
export interface WindowClosing {
  /** Called each time the user closes the window. */
  readonly decide: () => Closing | Promise<Closing>;
  /** Called when the window was hidden by closing it. */
  readonly hidden: () => void;
  readonly quit: () => void;
  /** Called when Windows ends the session of the user, before it ends the programs. */
  readonly sessionEnds: (event: { preventDefault(): void }) => void;
}

export interface WindowOptions extends Pick<PageOptions, 'waiting' | 'failing'> {
  readonly parts: Pick<ElectronApi, 'BrowserWindow' | 'nativeTheme' | 'screen'>;
  readonly clock: Clock;
  readonly preferences: Preferences;
  readonly appearance: WindowAppearance;
  readonly closing: WindowClosing;
  readonly failed: (error: unknown) => void;
}

/** Window of the app; created on first use, and reused while it is hidden. */
export interface AppWindow {
  /** Shows a page of the app, in front. */
  open(path: string): void;
  /** Brings the window to the front unchanged; a window that was never shown opens `path`. */
  bringBack(path: string): void;
  hide(): void;
  /** Creates the window without showing it, so that it receives the end of the session on Windows. */
  prepare(): void;
  /** Sets the address of the app's pages; undefined while they are unavailable. */
  serve(base: string | undefined): void;
  /** Updates the notice shown while there are no pages. */
  renew(): void;
  /** Closing quits from now on. */
  release(): void;
}

const defaultSize = { width: 1180, height: 780 } as const;
const minSize = { minWidth: 360, minHeight: 480 } as const;
/** Background of the pages in both themes, to avoid a white flash before the first page. */
const backgroundColors = { light: '#f7fafc', dark: '#0d141b' } as const;

/** Creates the window of the app, which is not shown yet. */
export function createWindow(options: WindowOptions): AppWindow {
  return new ReusedWindow(options);
}

interface CreatedWindow {
  readonly window: ElectronWindow;
  readonly page: WindowPage;
}

class ReusedWindow implements AppWindow {
  readonly #options: WindowOptions;
  #created: CreatedWindow | undefined;
  #base: string | undefined;
  #wasOpened = false;
  #isReleased = false;
  #isDeciding = false;

  constructor(options: WindowOptions) {
    this.#options = options;
  }

  open(path: string): void {
    this.#show(path);
  }

  bringBack(path: string): void {
    this.#show(this.#created === undefined || !this.#wasOpened ? path : undefined);
  }

  hide(): void {
    this.#created?.window.hide();
  }

  prepare(): void {
    this.#created ??= this.#create();
  }

  serve(base: string | undefined): void {
    this.#base = base;
    this.#created?.page.serve(base);
  }

  renew(): void {
    this.#created?.page.renew();
  }

  release(): void {
    this.#isReleased = true;
  }

  #show(path: string | undefined): void {
    const { window, page } = (this.#created ??= this.#create());
    this.#wasOpened = true;
    if (path !== undefined) page.go(path);
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  }

  #create(): CreatedWindow {
    const { parts, preferences, clock, waiting, failing } = this.#options;
    const { icon, webPreferences } = this.#options.appearance;
    const bounds = preferences.get('bounds');
    const window = new parts.BrowserWindow({
      ...defaultSize,
      ...minSize,
      ...(bounds !== null && isVisible(bounds, parts.screen.getAllDisplays()) ? bounds : {}),
      title: 'Homeport',
      icon,
      show: false,
      autoHideMenuBar: true,
      backgroundColor: parts.nativeTheme.shouldUseDarkColors ? backgroundColors.dark : backgroundColors.light,
      webPreferences,
    } satisfies BrowserWindowConstructorOptions);
    if (preferences.get('maximized')) window.maximize();
    const page = openPage({ window, base: this.#base, clock, waiting, failing });
    window.on('close', (event) => {
      preferences.set('bounds', window.getNormalBounds());
      preferences.set('maximized', window.isMaximized());
      if (this.#isReleased) return;
      event.preventDefault();
      this.#decideClosing(window);
    });
    window.on('query-session-end', this.#options.closing.sessionEnds);
    window.on('session-end', this.#options.closing.sessionEnds);
    window.on('closed', () => {
      this.#wasOpened = false;
      page[Symbol.dispose]();
      this.#created = undefined;
    });
    return { window, page };
  }

  #decideClosing(window: ElectronWindow): void {
    // The dialog is already shown.
    if (this.#isDeciding) return;
    const decision = this.#options.closing.decide();
    if (typeof decision === 'string') return this.#close(window, decision);
    this.#isDeciding = true;
    decision
      .then((answer) => this.#close(window, answer))
      .catch(this.#options.failed)
      .finally(() => (this.#isDeciding = false));
  }

  #close(window: ElectronWindow, decision: Closing): void {
    if (decision === 'quit') this.#options.closing.quit();
    if (decision !== 'hide') return;
    window.hide();
    this.#options.closing.hidden();
  }
}
