import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import type { ElectronWindow } from '../../main/shell/electron.ts';

type Bounds = { x: number; y: number; width: number; height: number };

/** Event whose default action can be prevented. */
export function preventable(fields: object = {}): { prevented: boolean; preventDefault(): void } {
  const event = {
    ...fields,
    prevented: false,
    preventDefault: () => void (event.prevented = true),
  };
  return event;
}

/** Chromium's number and name of a load that fails; undefined lets it succeed. */
export type FailingLoad = (address: string) => readonly [code: number, description: string] | undefined;

/** Page of a window. */
export class FakeContents {
  readonly events = new EventEmitter();
  address = '';
  reloads = 0;
  /** Set when the page prevents `beforeunload` because of unsaved input. */
  isGuarded = false;
  readonly on = ((name: string, listener: (...args: any[]) => void) => this.events.on(name, listener)) as never;
  getURL(): string {
    return this.address;
  }
  reload(): void {
    this.reloads += 1;
  }
  setWindowOpenHandler(): void {
    // Separate tests with pages cover its handling of addresses.
  }
  /** Without a dialog the page stays, as in Electron, unless a listener permits the navigation. */
  mayUnload(): boolean {
    if (!this.isGuarded) return true;
    const event = preventable();
    this.events.emit('will-prevent-unload', event);
    this.isGuarded = !event.prevented;
    return event.prevented;
  }
  /** Simulates the end of the renderer process. */
  crash(reason: Electron.RenderProcessGoneDetails['reason']): void {
    this.events.emit('render-process-gone', {}, { reason, exitCode: reason === 'clean-exit' ? 0 : 11 });
  }
}

/** Life cycle of an Electron window: its events, and the errors of calls to a destroyed window. */
export interface WindowSurroundings {
  readonly contentsMade: (contents: FakeContents) => void;
  readonly closed: (window: FakeWindow) => void;
  readonly fails: FailingLoad;
}

export class FakeWindow implements Record<keyof ElectronWindow, unknown> {
  readonly events = new EventEmitter();
  readonly webContents = new FakeContents();
  /** Pages of the app that were loaded. */
  readonly addresses: string[] = [];
  /** Texts of notices that were loaded instead of a page. */
  readonly notices: string[] = [];
  visible = false;
  focused = 0;
  maximized = false;
  minimized = false;
  bounds: Bounds;
  readonly options: Electron.BrowserWindowConstructorOptions;
  readonly #surroundings: WindowSurroundings;
  #destroyed = false;
  #loads = 0;
  constructor(options: Electron.BrowserWindowConstructorOptions, surroundings: WindowSurroundings) {
    this.options = options;
    this.#surroundings = surroundings;
    const { x = 0, y = 0, width = 800, height = 600 } = options;
    this.bounds = { x, y, width, height };
    surroundings.contentsMade(this.webContents);
  }
  readonly on = ((name: string, listener: (...args: any[]) => void) => {
    this.#check();
    this.events.on(name, listener);
  }) as never;
  focus(): void {
    this.#check();
    this.focused += 1;
  }
  getNormalBounds(): Bounds {
    this.#check();
    return this.bounds;
  }
  hide(): void {
    this.#check();
    this.visible = false;
  }
  isMaximized(): boolean {
    this.#check();
    return this.maximized;
  }
  isMinimized(): boolean {
    this.#check();
    return this.minimized;
  }
  /** Settles later, as in Electron; a failure also emits an event, and a later load replaces an earlier one. */
  async loadURL(address: string): Promise<void> {
    this.#check();
    this.#loads += 1;
    const load = this.#loads;
    if (address.startsWith('data:')) {
      this.notices.push(
        decodeURIComponent(address)
          .replace(/^.*<h1>|<\/p>.*$|<\/h1><p>/gs, ' ')
          .trim(),
      );
    } else this.addresses.push(address);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#destroyed) return;
    // Electron emits no event for it.
    if (!this.webContents.mayUnload()) throw new Error(`ERR_ABORTED (-3) loading '${address}'`);
    const [code, description] = load === this.#loads ? (this.#surroundings.fails(address) ?? []) : [-3, 'ERR_ABORTED'];
    if (code === undefined) {
      this.webContents.address = address;
      this.webContents.events.emit('did-navigate', {}, address, 200, 'OK');
      this.webContents.events.emit('did-finish-load');
      return;
    }
    this.webContents.events.emit('did-fail-load', {}, code, description, address, true, 1, 1);
    throw new Error(`${String(description)} (${String(code)}) loading '${address}'`);
  }
  maximize(): void {
    this.#check();
    this.maximized = true;
  }
  restore(): void {
    this.#check();
    this.minimized = false;
  }
  show(): void {
    this.#check();
    this.visible = true;
  }
  /** Simulates closing by the user or the app. */
  close(): { prevented: boolean } {
    const event = preventable();
    this.events.emit('close', event);
    if (!event.prevented && !this.webContents.mayUnload()) event.prevented = true;
    if (!event.prevented) this.destroy();
    return event;
  }
  /** Closes without a dialog. */
  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.visible = false;
    this.events.emit('closed');
    this.#surroundings.closed(this);
  }
  #check(): void {
    if (this.#destroyed) throw new TypeError('Object has been destroyed');
  }
}
