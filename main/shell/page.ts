import * as m from '#messages/desktop';
import type { Clock } from '../../services/contracts/service.ts';
import { noticePage, noticeStart, type NoticeContent } from '../desktop/notice-page.ts';
import type { ElectronWindow } from './electron.ts';

export interface PageOptions {
  readonly window: ElectronWindow;
  /** Address of the pages; undefined while they are unavailable. */
  readonly base: string | undefined;
  readonly clock: Clock;
  /** Returns the notice of the window while the pages are unavailable. */
  readonly waiting: () => NoticeContent;
  /** Called when the page crashes repeatedly: `retry` loads it again. */
  readonly failing: (retry: () => void) => void;
}

/** Content of the window: a page of the app, or a notice while there is none. */
export interface WindowPage extends Disposable {
  /** Opens a path of the app as soon as the pages are served. */
  go(path: string): void;
  /** Sets the address of the pages; undefined while they are unavailable. */
  serve(base: string | undefined): void;
  /** Updates the notice of {@link PageOptions.waiting}. */
  renew(): void;
}

/** Chromium's code for a load that was replaced by another one. */
const aborted = -3;
/** Pauses in ms before a page is loaded again after a failure; the last one repeats. */
const pauses = [1000, 2000, 5000, 10_000, 30_000] as const;
/** Number of crashes within a minute that counts as repeated. */
const maxCrashes = 3;
const crashWindowMs = 60_000;

/** Follows the contents of a window; the first page is loaded by `go`. */
export function openPage(options: PageOptions): WindowPage {
  return new LoadedPage(options);
}

class LoadedPage implements WindowPage {
  readonly #options: PageOptions;
  readonly #contents: ElectronWindow['webContents'];
  #base: string | undefined;
  #path = '/';
  /** False in a window that was only prepared to receive the end of the session. */
  #isRequested = false;
  #failures = 0;
  #retry: Disposable | undefined;
  #crashes: readonly number[] = [];
  /** The app itself started the current load. */
  #isOwnLoad = false;

  constructor(options: PageOptions) {
    this.#options = options;
    this.#contents = options.window.webContents;
    this.#base = options.base;
    this.#followLoads();
    this.#followCrashes();
  }

  go(path: string): void {
    this.#path = path;
    this.#isRequested = true;
    this.#load();
  }

  serve(base: string | undefined): void {
    this.#base = base;
    if (base === undefined || !this.#isRequested) return;
    const currentUrl = URL.parse(this.#contents.getURL());
    // A page that was already loaded reconnects automatically.
    if (currentUrl?.origin === new URL(base).origin) return;
    if (currentUrl !== null && !this.#showsNotice()) this.#path = currentUrl.pathname + currentUrl.search;
    this.#load();
  }

  renew(): void {
    if (this.#base === undefined && this.#showsNotice()) this.#load();
  }

  [Symbol.dispose](): void {
    this.#retry?.[Symbol.dispose]();
  }

  #load(): void {
    this.#show(this.#base === undefined ? noticePage(this.#options.waiting()) : this.#base + this.#path);
  }

  #show(address: string): void {
    this.#retry?.[Symbol.dispose]();
    this.#isOwnLoad = true;
    // Failed loads are also reported by an event.
    this.#options.window.loadURL(address).catch(() => undefined);
  }

  #showsNotice(): boolean {
    return this.#contents.getURL().startsWith(noticeStart);
  }

  /** Loads the page again after a failure. */
  #followLoads(): void {
    const contents = this.#contents;
    contents.on('will-prevent-unload', (event) => {
      // Electron shows no question: a page with unsaved input would block the load without any visible effect.
      if (this.#isOwnLoad) event.preventDefault();
    });
    contents.on('did-navigate', (_, address) => {
      this.#isOwnLoad = false;
      if (!address.startsWith(noticeStart)) this.#failures = 0;
    });
    contents.on('did-fail-load', (_, code, description, address, isMainFrame) => {
      if (!isMainFrame || code === aborted) return;
      this.#isOwnLoad = false;
      if (address.startsWith(noticeStart)) return;
      const pause = pauses[Math.min(this.#failures, pauses.length - 1)] ?? 0;
      this.#failures += 1;
      const text = m.pageFailedText({ error: description });
      this.#show(noticePage({ title: m.pageFailed(), text }));
      this.#retry = this.#options.clock.after(pause, () => this.#load());
    });
  }

  /** Reloads a page that crashed, unless it crashes repeatedly. */
  #followCrashes(): void {
    const { clock, failing } = this.#options;
    this.#contents.on('render-process-gone', (_, { reason }) => {
      if (reason === 'clean-exit') return;
      const now = clock.now();
      this.#crashes = [...this.#crashes.filter((at) => now - at < crashWindowMs), now];
      if (this.#crashes.length < maxCrashes) this.#contents.reload();
      else {
        this.#crashes = [];
        failing(() => this.#load());
      }
    });
  }
}
