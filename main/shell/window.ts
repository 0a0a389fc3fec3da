import type { BrowserWindowConstructorOptions, WebPreferences } from 'electron';
import type { Clock } from '../../services/contracts/service.ts';
import { isVisible } from '../desktop/bounds.ts';
import type { Closing } from '../desktop/closing.ts';
import type { Preferences } from '../desktop/preferences.ts';
import type { ElectronParts, ElectronWindow } from './electron.ts';
import { openPage, type PageOptions, type WindowPage } from './page.ts';

export interface WindowOptions extends Pick<PageOptions, 'waiting' | 'failing'> {
  readonly parts: Pick<ElectronParts, 'BrowserWindow' | 'nativeTheme' | 'screen'>;
  readonly clock: Clock;
  readonly preferences: Preferences;
  readonly webPreferences: WebPreferences;
  readonly icon: string;
  /** Asked each time that the person closes it. */
  readonly decide: () => Closing | Promise<Closing>;
  /** It was hidden since somebody closed it. */
  readonly hidden: () => void;
  readonly quit: () => void;
  readonly failed: (error: unknown) => void;
}

/** The app's one window; made when it is first asked for, and kept while it is hidden. */
export interface AppWindow {
  /** Shows a page of the app, in front. */
  open(path: string): void;
  /** Brings it to the front as it is; one that was never shown begins with `path`. */
  bringBack(path: string): void;
  hide(): void;
  /** Address that the app's pages have from now on; undefined while they have none. */
  serve(base: string | undefined): void;
  /** What it says while there are no pages has changed. */
  renew(): void;
  /** From now on closing is for good. */
  release(): void;
}

const usual = { width: 1180, height: 780 } as const;
const smallest = { minWidth: 360, minHeight: 480 } as const;
/** The pages' ground in both themes, so that no white flash comes before the first page. */
const grounds = { light: '#f7fafc', dark: '#0d141b' } as const;

export function createWindow(options: WindowOptions): AppWindow {
  const { parts, preferences, clock } = options;
  let made: { readonly window: ElectronWindow; readonly page: WindowPage } | undefined;
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
    // The question is on the screen.
    if (deciding) return;
    const decision = options.decide();
    if (typeof decision === 'string') return close(window, decision);
    deciding = true;
    decision
      .then((made) => close(window, made))
      .catch(options.failed)
      .finally(() => (deciding = false));
  };
  const make = (): NonNullable<typeof made> => {
    const bounds = preferences.get('bounds');
    const window = new parts.BrowserWindow({
      ...usual,
      ...smallest,
      ...(bounds !== null && isVisible(bounds, parts.screen.getAllDisplays()) ? bounds : {}),
      title: 'Homeport',
      icon: options.icon,
      show: false,
      autoHideMenuBar: true,
      backgroundColor: parts.nativeTheme.shouldUseDarkColors ? grounds.dark : grounds.light,
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
      made = undefined;
    });
    return { window, page };
  };
  const show = (path: string | undefined): void => {
    const { window, page } = (made ??= make());
    if (path !== undefined) page.go(path);
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  };

  return {
    open: (path) => show(path),
    bringBack: (path) => show(made === undefined ? path : undefined),
    hide: () => made?.window.hide(),
    serve(served) {
      base = served;
      made?.page.serve(served);
    },
    renew: () => made?.page.renew(),
    release: () => void (closing = true),
  };
}
