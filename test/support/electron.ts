import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import type * as Electron from 'electron';
import type { ElectronApi } from '../../main/shell/electron.ts';
import { FakeNotification, FakeTray } from './electron-icons.ts';
import { FakeWindow, preventable, type FailingLoad, type FakeContents } from './electron-window.ts';

export { preventable } from './electron-window.ts';

type Bounds = { x: number; y: number; width: number; height: number };

/** Returns the labels of a menu; submenus are indented. */
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

/** Starts the program of `utilityProcess.fork`. */
export type Fork = (
  entry: string,
  args: readonly string[],
  options: Electron.ForkOptions,
) => Pick<Electron.UtilityProcess, 'on' | 'pid' | 'postMessage'>;

/**
 * Fake of Electron that records its calls and acts on request of a test. Its readiness, the functions that may be
 * called before it, and the order of its events are as documented. The shell receives `parts`.
 */
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
  /** Menus of the app, in the order in which they were set. */
  readonly exits: number[] = [];
  clipboard = '';
  /** Buttons that answer the next message boxes; without one the last button closes the box. */
  readonly answers: { readonly button: number; readonly remember?: boolean }[] = [];
  readonly questions: Electron.MessageBoxOptions[] = [];
  /** Loads of a window that fail. */
  fails: FailingLoad = () => undefined;
  fork: Fork = () => {
    throw new Error('this test starts no process of the services');
  };
  /** Simulates a keyring with a newer key than the one that wraps the given text. */
  hasNewKey = false;
  isReady = false;
  readonly #ready = Promise.withResolvers<void>();
  badge = 0;
  isFirst = true;
  displays: { workArea: Bounds }[] = [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }];
  keyring: 'none' | 'basic_text' | 'gnome_libsecret' = 'gnome_libsecret';
  showsNotifications = true;
  chosenFolders: string[] = [];
  loginItem = { openAtLogin: false, args: [] as string[] };
  /** Simulates the start of the app by macOS when its user signs in. */
  wasOpenedAtLogin = false;
  /** Preferred languages of the system, the most preferred first; a language may have no region, as on Windows. */
  systemLanguages: readonly string[] = ['en-US'];
  isPackaged = true;
  isInApplicationsFolder = true;
  /** Moves to the folder of applications, each followed by a start from there. */
  moves = 0;
  /** Thrown by a move. */
  moveError: Error | undefined;
  permissions: {
    request?: (page: unknown, permission: string, answer: (granted: boolean) => void, details: unknown) => void;
    check?: (page: unknown, permission: string, origin: string) => boolean;
  } = {};

  readonly parts: ElectronApi;

  constructor() {
    // Classes whose instances Electron creates; each records its instances.
    const { windows, trays, notifications } = this;
    const shows = (): boolean => this.showsNotifications;
    const needsReady = (what: string): void => {
      if (!this.isReady) throw new Error(`${what} before the app is ready`);
    };
    const surroundings = {
      contentsMade: (contents: FakeContents) => void this.events.emit('web-contents-created', {}, contents),
      closed: (window: FakeWindow) => this.#closed(window),
      fails: (address: string) => this.fails(address),
    };
    class BrowserWindow extends FakeWindow {
      constructor(options: Electron.BrowserWindowConstructorOptions) {
        needsReady('Cannot create BrowserWindow');
        super(options, surroundings);
        windows.push(this);
      }
    }
    class Tray extends FakeTray {
      constructor(image: any) {
        needsReady('Cannot create Tray');
        super(image);
        trays.push(this);
      }
    }
    class Notification extends FakeNotification {
      static isSupported(): boolean {
        return shows();
      }
      constructor(options: Electron.NotificationConstructorOptions) {
        needsReady('Cannot create Notification');
        super(options);
        notifications.push(this);
      }
    }
    const session = {
      setPermissionRequestHandler: (handler: any) => void (this.permissions.request = handler),
      setPermissionCheckHandler: (handler: any) => void (this.permissions.check = handler),
    };
    const fake = {
      app: {
        exit: (code = 0) => this.#exit(code),
        getLoginItemSettings: () => ({
          openAtLogin: this.loginItem.openAtLogin,
          wasOpenedAtLogin: this.wasOpenedAtLogin,
        }),
        getPreferredSystemLanguages: () => [...this.systemLanguages],
        getPath: (name: string) => this.paths[name] ?? `/home/ada/${name}`,
        isInApplicationsFolder: () => this.isInApplicationsFolder,
        isPackaged: true,
        moveToApplicationsFolder: () => {
          if (this.moveError !== undefined) throw this.moveError;
          this.moves += 1;
          this.#quit();
          return true;
        },
        on: (name: string, listener: (...args: any[]) => void) => this.events.on(name, listener),
        quit: () => this.#quit(),
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
        setPath: (name: string, path: string) => {
          if (!existsSync(path)) throw new Error(`Failed to set path: ${path} is not there`);
          this.paths[name] = path;
        },
        whenReady: () => this.#ready.promise,
      },
      BrowserWindow,
      clipboard: {
        readText: async () => this.clipboard,
        writeText: async (text: string) => void (this.clipboard = text),
      },
      dialog: {
        showMessageBox: async (question: Electron.MessageBoxOptions) => {
          needsReady('dialog cannot be used');
          this.questions.push(question);
          const { button = question.cancelId ?? 0, remember = false } = this.answers.shift() ?? {};
          return { response: button, checkboxChecked: remember };
        },
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
      powerMonitor: { on: (name: string, listener: (event: unknown) => void) => this.power.on(name, listener) },
      safeStorage: {
        // They start after the app is ready and may take long, because the keyring may prompt the user.
        isAsyncEncryptionAvailable: () => this.#keyring(() => this.keyring !== 'none'),
        getSelectedStorageBackend: () => (this.isReady ? this.keyring : 'unknown'),
        encryptStringAsync: (text: string) => this.#keyring(() => Buffer.from(`${this.#keyName()} ${text}`)),
        decryptStringAsync: (bytes: Buffer) =>
          this.#keyring(() => {
            const [name = '', result = ''] = bytes.toString().split(' ');
            if (!['old', 'new'].includes(name)) throw new Error('Error while decrypting the ciphertext.');
            return { result, shouldReEncrypt: name !== this.#keyName() };
          }),
      },
      screen: {
        getAllDisplays: () => {
          needsReady('The screen module cannot be used');
          return this.displays;
        },
      },
      session: {
        get defaultSession() {
          needsReady('Session can only be received');
          return session;
        },
      },
      shell: {
        openExternal: async (address: string) => void this.opened.push(address),
        showItemInFolder: (path: string) => void this.shownItems.push(path),
      },
      Tray,
      utilityProcess: {
        fork: (entry: string, args: readonly string[], options: Electron.ForkOptions) => {
          needsReady('utilityProcess cannot be created');
          return this.fork(entry, args, options);
        },
      },
    } satisfies { [Part in keyof ElectronApi]: { [Name in keyof ElectronApi[Part]]: unknown } };
    // Tests of the start change it before the app reads it.
    Object.defineProperty(fake.app, 'isPackaged', { get: () => this.isPackaged });
    this.parts = fake as unknown as ElectronApi;
  }

  /** Marks the entry module as evaluated: Electron becomes ready only afterwards. */
  becomeReady(): void {
    this.events.emit('will-finish-launching');
    this.isReady = true;
    this.events.emit('ready', {}, {});
    this.#ready.resolve();
  }

  /** Starts the app a second time; the event follows `ready` at the earliest. */
  secondInstance(argv: readonly string[]): void {
    if (!this.isReady) throw new Error('Electron tells of a second instance once it is ready');
    this.events.emit('second-instance', {}, argv, '/', undefined);
  }

  /**
   * Ends the session of the user as the system does, and returns whether a program refused. macOS: a prevented
   * `shutdown` delays it until the program exits; otherwise every program is quit, and a prevented `before-quit` is a
   * refusal. Windows emits only the events of windows.
   */
  endSession(platform: 'win32' | 'darwin'): { readonly delayed: boolean; readonly refused: boolean } {
    const event = preventable({ reasons: ['logoff'] });
    if (platform === 'win32') {
      for (const window of this.windows) window.events.emit('query-session-end', event);
      return { delayed: event.prevented, refused: false };
    }
    this.power.emit('shutdown', event);
    if (event.prevented) return { delayed: true, refused: false };
    const quitting = preventable();
    this.events.emit('before-quit', quitting);
    return { delayed: false, refused: quitting.prevented };
  }

  #quit(): void {
    const event = preventable();
    this.events.emit('before-quit', event);
    if (event.prevented) return;
    if (this.windows.some((window) => window.close().prevented)) return;
    this.events.emit('will-quit', preventable());
    this.#exit(0);
  }

  /** Closes the windows without a dialog. */
  #exit(code: number): void {
    this.exits.push(code);
    for (const window of this.windows) window.destroy();
    this.events.emit('quit', {}, code);
  }

  #closed(window: FakeWindow): void {
    if (this.exits.length > 0 || window !== this.windows.at(-1)) return;
    if (this.events.listenerCount('window-all-closed') === 0) this.#quit();
    else this.events.emit('window-all-closed');
  }

  #keyName(): string {
    return this.hasNewKey ? 'new' : 'old';
  }

  async #keyring<T>(answer: () => T): Promise<T> {
    await this.#ready.promise;
    await new Promise((resolve) => setImmediate(resolve));
    return answer();
  }

  get window(): FakeWindow | undefined {
    return this.windows.at(-1);
  }

  get tray(): FakeTray | undefined {
    return this.trays.at(-1);
  }

  /** Clicks an item of the tray menu by its label, also in a submenu; `checked` is the new state of a checkbox. */
  click(label: RegExp, checked = false): void {
    const all = (items: readonly Electron.MenuItemConstructorOptions[]): Electron.MenuItemConstructorOptions[] =>
      items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? all(item.submenu) : [])]);
    const item = all(this.tray?.menu ?? []).find((entry) => label.test(entry.label ?? ''));
    if (item?.click === undefined) throw new Error(`nothing to click is called ${String(label)}`);
    item.click({ checked } as Electron.MenuItem, undefined, {});
  }

  /** Calls the bridge from a page; by default from the main page at `url`. */
  async call(name: string, argument: unknown, frame: { url: string; parent: unknown }): Promise<unknown> {
    const call = this.calls.get(`homeport:${name}`);
    if (call === undefined) throw new Error(`no call ${name}`);
    return call({ senderFrame: frame }, argument);
  }

  /** Creates a page, to which the rules of the shell apply. */
  contents(): EventEmitter & { opens(url: string): { action: string } } {
    const events = new EventEmitter();
    let handler: (details: { url: string }) => { action: string } = () => ({ action: 'allow' });
    const contents = {
      on: (name: string, listener: (...args: any[]) => void) => events.on(name, listener),
      setWindowOpenHandler: (handle: never) => void (handler = handle),
    };
    this.events.emit('web-contents-created', {}, contents);
    return Object.assign(events, { opens: (url: string) => handler({ url }) });
  }
}
