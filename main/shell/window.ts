import type { BrowserWindowConstructorOptions, WebPreferences } from 'electron';
import type { Clock } from '../../services/contracts/service.ts';
import { isVisible } from '../desktop/bounds.ts';
import type { Closing } from '../desktop/closing.ts';
import type { Preferences } from '../desktop/preferences.ts';
import type { ElectronApi, ElectronWindow } from './electron.ts';
import { openPage, type PageOptions, type WindowPage } from './page.ts';

export interface WindowOptions extends Pick<PageOptions, 'waiting' | 'failing'> {
  readonly parts: Pick<ElectronApi, 'BrowserWindow' | 'nativeTheme' | 'screen'>;
  readonly clock: Clock;
  readonly preferences: Preferences;
  readonly webPreferences: WebPreferences;
  readonly icon: string;
  /** Called each time the user closes the window. */
  readonly decide: () => Closing | Promise<Closing>;
  /** Called when the window was hidden by closing it. */
  readonly hidden: () => void;
  readonly quit: () => void;
  readonly failed: (error: unknown) => void;
}

/** Window of the app; created on first use, and reused while it is hidden. */
export interface AppWindow {
  /** Shows a page of the app, in front. */
  open(path: string): void;
  /** Brings the window to the front unchanged; a window that was never shown opens `path`. */
  bringBack(path: string): void;
  hide(): void;
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

export function createWindow(options: WindowOptions): AppWindow {
  const { parts, preferences, clock } = options;
  let createdWindow: { readonly window: ElectronWindow; readonly page: WindowPage } | undefined;
  let base: string | undefined;
  let closing = false;
  let deciding = false;

  const close = (window: ElectronWindow, decision: Closing): void => {
    if (decision === 'quit') options.quit();
    if (decision !== 'hide') return;
    window.hide();
    options.hidden();
  };
  const closed = (window: ElectronWindow): void => {
    // The dialog is already shown.
    if (deciding) return;
    const decision = options.decide();
    if (typeof decision === 'string') return close(window, decision);
    deciding = true;
    decision
      .then((createdWindow) => close(window, createdWindow))
      .catch(options.failed)
      .finally(() => (deciding = false));
  };
  const make = (): NonNullable<typeof createdWindow> => {
    const bounds = preferences.get('bounds');
    const window = new parts.BrowserWindow({
      ...defaultSize,
      ...minSize,
      ...(bounds !== null && isVisible(bounds, parts.screen.getAllDisplays()) ? bounds : {}),
      title: 'Homeport',
      icon: options.icon,
      show: false,
      autoHideMenuBar: true,
      backgroundColor: parts.nativeTheme.shouldUseDarkColors ? backgroundColors.dark : backgroundColors.light,
      webPreferences: options.webPreferences,
    } satisfies BrowserWindowConstructorOptions);
    if (preferences.get('maximized')) window.maximize();
    const page = openPage({ window, base, clock, waiting: options.waiting, failing: options.failing });
    window.on('close', (event) => {
      preferences.set('bounds', window.getNormalBounds());
      preferences.set('maximized', window.isMaximized());
      if (closing) return;
      event.preventDefault();
      closed(window);
    });
    window.on('closed', () => {
      page[Symbol.dispose]();
      createdWindow = undefined;
    });
    return { window, page };
  };
  const show = (path: string | undefined): void => {
    const { window, page } = (createdWindow ??= make());
    if (path !== undefined) page.go(path);
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  };

  return {
    open: (path) => show(path),
    bringBack: (path) => show(createdWindow === undefined ? path : undefined),
    hide: () => createdWindow?.window.hide(),
    serve(served) {
      base = served;
      createdWindow?.page.serve(served);
    },
    renew: () => createdWindow?.page.renew(),
    release: () => void (closing = true),
  };
}
