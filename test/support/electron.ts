import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import type { ElectronParts, ElectronWindow } from '../../main/shell/electron.ts';

type Bounds = { x: number; y: number; width: number; height: number };

/** A menu's items as a person reads them; submenus are indented. */
export function menuTree(items: readonly Electron.MenuItemConstructorOptions[], depth = 0): string {
  return items
    .map((item) => {
      const indent = '  '.repeat(depth);
      if (item.type === 'separator') return `${indent}---`;
      const mark = item.type === 'checkbox' ? (item.checked === true ? '[x] ' : '[ ] ') : '';
      const below = Array.isArray(item.submenu) ? `\n${menuTree(item.submenu, depth + 1)}` : '';
      return `${indent}${mark}${item.label ?? ''}${item.enabled === false ? ' (not clickable)' : ''}${below}`;
    })
    .join('\n');
}

class FakeWindow implements Record<keyof ElectronWindow, unknown> {
  readonly events = new EventEmitter();
  readonly addresses: string[] = [];
  visible = false;
  focused = 0;
  maximized = false;
  minimized = false;
  bounds: Bounds;
  readonly options: Electron.BrowserWindowConstructorOptions;
  constructor(options: Electron.BrowserWindowConstructorOptions) {
    this.options = options;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.bounds = { x, y, width, height };
  }
  readonly on = ((name: string, listener: (...args: any[]) => void) => {
    this.events.on(name, listener);
  }) as never;
  focus(): void {
    this.focused += 1;
  }
  getNormalBounds(): Bounds {
    return this.bounds;
  }
  hide(): void {
    this.visible = false;
  }
  isMaximized(): boolean {
    return this.maximized;
  }
  isMinimized(): boolean {
    return this.minimized;
  }
  async loadURL(address: string): Promise<void> {
    this.addresses.push(address);
  }
  maximize(): void {
    this.maximized = true;
  }
  restore(): void {
    this.minimized = false;
  }
  show(): void {
    this.visible = true;
  }
  /** The person closes it. */
  close(): { prevented: boolean } {
    const event = preventable();
    this.events.emit('close', event);
    if (!event.prevented) this.events.emit('closed');
    return event;
  }
}

class FakeTray {
  image: string;
  tip = '';
  menu: readonly Electron.MenuItemConstructorOptions[] = [];
  destroyed = false;
  readonly events = new EventEmitter();
  constructor(image: { path: string }) {
    this.image = image.path;
  }
  on(name: string, listener: () => void): void {
    this.events.on(name, listener);
  }
  setImage(image: { path: string }): void {
    this.image = image.path;
  }
  setToolTip(tip: string): void {
    this.tip = tip;
  }
  setContextMenu(menu: { items: readonly Electron.MenuItemConstructorOptions[] }): void {
    this.menu = menu.items;
  }
  destroy(): void {
    this.destroyed = true;
  }
}

export class FakeNotification {
  readonly events = new EventEmitter();
  readonly options: Electron.NotificationConstructorOptions;
  shown = false;
  closed = false;
  constructor(options: Electron.NotificationConstructorOptions) {
    this.options = options;
  }
  on(name: string, listener: (...args: any[]) => void): this {
    this.events.on(name, listener);
    return this;
  }
  show(): void {
    this.shown = true;
    this.events.emit('show');
  }
  close(): void {
    this.closed = true;
    this.events.emit('close');
  }
}

/** An event whose default can be prevented. */
export function preventable(fields: object = {}): { prevented: boolean; preventDefault(): void } {
  const event = {
    ...fields,
    prevented: false,
    preventDefault: () => void (event.prevented = true),
  };
  return event;
}

/** An Electron that only remembers what it was told, and does what a test says. `parts` is what the shell gets. */
export class FakeElectron {
  readonly events = new EventEmitter();
  readonly windows: FakeWindow[] = [];
  readonly trays: FakeTray[] = [];
  readonly notifications: FakeNotification[] = [];
  readonly calls = new Map<string, (event: unknown, argument: unknown) => unknown>();
  readonly paths: Record<string, string> = {};
  readonly opened: string[] = [];
  readonly shownItems: string[] = [];
  readonly errors: string[] = [];
  readonly protocols: string[] = [];
  readonly power = new EventEmitter();
  /** Of the app, in the order they were given. */
  readonly exits: number[] = [];
  clipboard = '';
  badge = 0;
  isFirst = true;
  displays: { workArea: Bounds }[] = [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }];
  keyring: 'none' | 'basic_text' | 'gnome_libsecret' = 'gnome_libsecret';
  showsNotifications = true;
  chosenFolders: string[] = [];
  loginItem = { openAtLogin: false, args: [] as string[] };
  permissions: {
    request?: (page: unknown, permission: string, answer: (granted: boolean) => void, details: unknown) => void;
    check?: (page: unknown, permission: string, origin: string) => boolean;
  } = {};

  readonly parts: ElectronParts;

  constructor() {
    // Classes that Electron makes itself; each remembers what was made.
    const { windows, trays, notifications } = this;
    const shows = (): boolean => this.showsNotifications;
    class BrowserWindow extends FakeWindow {
      constructor(options: Electron.BrowserWindowConstructorOptions) {
        super(options);
        windows.push(this);
      }
    }
    class Tray extends FakeTray {
      constructor(image: any) {
        super(image);
        trays.push(this);
      }
    }
    class Notification extends FakeNotification {
      static isSupported(): boolean {
        return shows();
      }
      constructor(options: Electron.NotificationConstructorOptions) {
        super(options);
        notifications.push(this);
      }
    }
    const fake = {
      app: {
        exit: (code = 0) => void this.exits.push(code),
        getLoginItemSettings: () => ({ openAtLogin: this.loginItem.openAtLogin }),
        on: (name: string, listener: (...args: any[]) => void) => this.events.on(name, listener),
        quit: () => void this.events.emit('before-quit', preventable()),
        requestSingleInstanceLock: () => this.isFirst,
        setAppUserModelId: () => undefined,
        setAsDefaultProtocolClient: (protocol: string) => this.protocols.push(protocol) > 0,
        setBadgeCount: (count = 0) => {
          this.badge = count;
          return true;
        },
        setLoginItemSettings: ({ openAtLogin = false, args = [] }: Electron.Settings) => {
          this.loginItem = { openAtLogin, args };
        },
        setName: () => undefined,
        setPath: (name: string, path: string) => void (this.paths[name] = path),
        whenReady: async () => undefined,
      },
      BrowserWindow,
      clipboard: { readText: async () => this.clipboard, writeText: (text: string) => void (this.clipboard = text) },
      dialog: {
        showErrorBox: (title: string, content: string) => void this.errors.push(`${title}: ${content}`),
        showOpenDialog: async () => ({ canceled: this.chosenFolders.length === 0, filePaths: this.chosenFolders }),
      },
      ipcMain: {
        handle: (name: string, call: (event: unknown, argument: unknown) => unknown) => void this.calls.set(name, call),
      },
      Menu: { buildFromTemplate: (items: unknown) => ({ items }), setApplicationMenu: () => undefined },
      nativeImage: { createFromPath: (path: string) => ({ path }) },
      nativeTheme: { shouldUseDarkColors: true },
      Notification,
      powerMonitor: { on: (name: string, listener: () => void) => this.power.on(name, listener) },
      safeStorage: {
        isEncryptionAvailable: () => this.keyring !== 'none',
        getSelectedStorageBackend: () => this.keyring,
        encryptString: (text: string) => Buffer.from(`kept ${text}`),
        decryptString: (bytes: Buffer) => bytes.toString().replace(/^kept /, ''),
      },
      screen: { getAllDisplays: () => this.displays },
      session: {
        defaultSession: {
          setPermissionRequestHandler: (handler: any) => void (this.permissions.request = handler),
          setPermissionCheckHandler: (handler: any) => void (this.permissions.check = handler),
        },
      },
      shell: {
        openExternal: async (address: string) => void this.opened.push(address),
        showItemInFolder: (path: string) => void this.shownItems.push(path),
      },
      Tray,
    } satisfies { [Part in keyof ElectronParts]: { [Name in keyof ElectronParts[Part]]: unknown } };
    this.parts = fake as unknown as ElectronParts;
  }

  get window(): FakeWindow | undefined {
    return this.windows.at(-1);
  }

  get tray(): FakeTray | undefined {
    return this.trays.at(-1);
  }

  /** Clicks an item of the tray's menu by its label, also in a submenu; `checked` is what a checkbox becomes. */
  click(label: RegExp, checked = false): void {
    const all = (items: readonly Electron.MenuItemConstructorOptions[]): Electron.MenuItemConstructorOptions[] =>
      items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? all(item.submenu) : [])]);
    const item = all(this.tray?.menu ?? []).find((each) => label.test(each.label ?? ''));
    if (item?.click === undefined) throw new Error(`nothing to click is called ${String(label)}`);
    item.click({ checked } as Electron.MenuItem, undefined, {});
  }

  /** A page calls the bridge; by default the main page at `url`. */
  async call(name: string, argument: unknown, frame: { url: string; parent: unknown }): Promise<unknown> {
    const call = this.calls.get(`homeport:${name}`);
    if (call === undefined) throw new Error(`no call ${name}`);
    return call({ senderFrame: frame }, argument);
  }

  /** A page comes to be; the shell's rules are put on it. */
  contents(): EventEmitter & { opens(url: string): { action: string } } {
    const events = new EventEmitter();
    let handler: (details: { url: string }) => { action: string } = () => ({ action: 'allow' });
    const contents = {
      on: (name: string, listener: (...args: any[]) => void) => events.on(name, listener),
      setWindowOpenHandler: (given: never) => void (handler = given),
    };
    this.events.emit('web-contents-created', {}, contents);
    return Object.assign(events, { opens: (url: string) => handler({ url }) });
  }
}
