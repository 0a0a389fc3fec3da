import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';

/** Icon in the tray. */
export class FakeTray {
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

/** Notification of the system. */
export class FakeNotification {
  readonly events = new EventEmitter();
  readonly options: Electron.NotificationConstructorOptions;
  isVisible = false;
  closed = false;
  constructor(options: Electron.NotificationConstructorOptions) {
    this.options = options;
  }
  on(name: string, listener: (...args: any[]) => void): this {
    this.events.on(name, listener);
    return this;
  }
  show(): void {
    this.isVisible = true;
    this.events.emit('show');
  }
  close(): void {
    this.closed = true;
    this.events.emit('close');
  }
}
