import type { BrowserWindowConstructorOptions, WebPreferences } from 'electron';
import type { ElectronParts, ElectronWindow } from './electron.ts';
import { isVisible } from '../desktop/bounds.ts';
import type { Preferences } from '../desktop/preferences.ts';

export interface WindowOptions {
  readonly parts: Pick<ElectronParts, 'BrowserWindow' | 'screen'>;
  readonly preferences: Preferences;
  readonly webPreferences: WebPreferences;
  readonly icon: string;
  readonly dark: boolean;
  /** False where a hidden window could not be brought back: closing it then ends the app. */
  hidesToTray(): boolean;
  /** Told the first time that closing leaves the app running. */
  explain(): void;
  quit(): void;
}

/** The app's one window; made when it is first asked for, and kept while it is hidden. */
export interface AppWindow {
  /** Brings it to the front; with an address it shows that page. */
  show(address?: string): void;
  hide(): void;
  /** From now on closing is for good. */
  release(): void;
}

const usual = { width: 1180, height: 780 } as const;
const smallest = { minWidth: 360, minHeight: 480 } as const;
/** The pages' ground in both themes, so that no white flash comes before the first page. */
const grounds = { light: '#f7fafc', dark: '#0d141b' } as const;

export function createWindow(options: WindowOptions): AppWindow {
  const { parts, preferences } = options;
  let window: ElectronWindow | undefined;
  let closing = false;

  const make = (): ElectronWindow => {
    const bounds = preferences.get('bounds');
    const made = new parts.BrowserWindow({
      ...usual,
      ...smallest,
      ...(bounds !== null && isVisible(bounds, parts.screen.getAllDisplays()) ? bounds : {}),
      title: 'Homeport',
      icon: options.icon,
      show: false,
      autoHideMenuBar: true,
      backgroundColor: options.dark ? grounds.dark : grounds.light,
      webPreferences: options.webPreferences,
    } satisfies BrowserWindowConstructorOptions);
    if (preferences.get('maximized')) made.maximize();
    made.on('close', (event) => {
      preferences.set('bounds', made.getNormalBounds());
      preferences.set('maximized', made.isMaximized());
      if (closing) return;
      event.preventDefault();
      if (!options.hidesToTray()) return options.quit();
      made.hide();
      if (preferences.get('explainedTray')) return;
      preferences.set('explainedTray', true);
      options.explain();
    });
    made.on('closed', () => (window = undefined));
    return made;
  };

  return {
    show(address) {
      const made = (window ??= make());
      // A page that cannot be loaded shows its own error; the tray still leads everywhere.
      if (address !== undefined) made.loadURL(address).catch(() => undefined);
      if (made.isMinimized()) made.restore();
      made.show();
      made.focus();
    },
    hide: () => window?.hide(),
    release: () => void (closing = true),
  };
}
