import type * as Electron from 'electron';

/** Used part of Electron, passed as a parameter so that tests can replace it. */
export interface ElectronApi {
  readonly app: Pick<
    typeof Electron.app,
    | 'exit'
    | 'getLoginItemSettings'
    | 'getPath'
    | 'getPreferredSystemLanguages'
    | 'isInApplicationsFolder'
    | 'isPackaged'
    | 'moveToApplicationsFolder'
    | 'on'
    | 'quit'
    | 'requestSingleInstanceLock'
    | 'setAppUserModelId'
    | 'setAsDefaultProtocolClient'
    | 'setBadgeCount'
    | 'setLoginItemSettings'
    | 'setName'
    | 'setPath'
    | 'whenReady'
  >;
  readonly BrowserWindow: new (options: Electron.BrowserWindowConstructorOptions) => ElectronWindow;
  readonly clipboard: Pick<typeof Electron.clipboard, 'readText' | 'writeText'>;
  readonly dialog: Pick<typeof Electron.dialog, 'showErrorBox' | 'showMessageBox' | 'showOpenDialog'>;
  readonly ipcMain: Pick<typeof Electron.ipcMain, 'handle'>;
  readonly Menu: {
    buildFromTemplate(template: Electron.MenuItemConstructorOptions[]): Electron.Menu;
    setApplicationMenu(menu: Electron.Menu | null): void;
  };
  readonly nativeImage: Pick<typeof Electron.nativeImage, 'createFromPath'>;
  readonly nativeTheme: Pick<typeof Electron.nativeTheme, 'shouldUseDarkColors'>;
  readonly Notification: {
    new (options: Electron.NotificationConstructorOptions): Pick<Electron.Notification, 'close' | 'on' | 'show'>;
    isSupported(): boolean;
  };
  readonly powerMonitor: Pick<typeof Electron.powerMonitor, 'on'>;
  readonly safeStorage: Pick<
    typeof Electron.safeStorage,
    'decryptStringAsync' | 'encryptStringAsync' | 'getSelectedStorageBackend' | 'isAsyncEncryptionAvailable'
  >;
  readonly screen: Pick<typeof Electron.screen, 'getAllDisplays'>;
  readonly session: { readonly defaultSession: ElectronSession };
  readonly shell: Pick<typeof Electron.shell, 'openExternal' | 'showItemInFolder'>;
  readonly Tray: new (
    image: Electron.NativeImage,
  ) => Pick<Electron.Tray, 'destroy' | 'on' | 'setContextMenu' | 'setImage' | 'setToolTip'>;
  readonly utilityProcess: {
    fork(
      entry: string,
      args: string[],
      options: Electron.ForkOptions,
    ): Pick<Electron.UtilityProcess, 'on' | 'pid' | 'postMessage'>;
  };
}

type ElectronSession = Pick<Electron.Session, 'setPermissionCheckHandler' | 'setPermissionRequestHandler'>;

export type ElectronWindow = Pick<
  Electron.BrowserWindow,
  | 'focus'
  | 'getNormalBounds'
  | 'hide'
  | 'isMaximized'
  | 'isMinimized'
  | 'loadURL'
  | 'maximize'
  | 'on'
  | 'restore'
  | 'show'
> & { readonly webContents: Pick<Electron.WebContents, 'getURL' | 'on' | 'reload'> };

/** Any page, including nested ones. */
export type ElectronContents = Pick<Electron.WebContents, 'on' | 'setWindowOpenHandler'>;
