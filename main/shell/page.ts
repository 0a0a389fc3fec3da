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

export function openPage({ window, clock, waiting, failing, ...options }: PageOptions): WindowPage {
  const contents = window.webContents;
  let { base } = options;
  let path = '/';
  let failures = 0;
  let retry: Disposable | undefined;
  let crashes: readonly number[] = [];
  /** The app itself started the current load. */
  let isOwnLoad = false;

  const show = (address: string): void => {
    retry?.[Symbol.dispose]();
    isOwnLoad = true;
    // Failed loads are also reported by an event.
    window.loadURL(address).catch(() => undefined);
  };
  const load = (): void => show(base === undefined ? noticePage(waiting()) : base + path);
  const showsNotice = (): boolean => contents.getURL().startsWith(noticeStart);

  contents.on('will-prevent-unload', (event) => {
    // Electron does not ask: a page with unsaved input would block the load without any visible effect.
    if (isOwnLoad) event.preventDefault();
  });
  contents.on('did-navigate', (_, address) => {
    isOwnLoad = false;
    if (!address.startsWith(noticeStart)) failures = 0;
  });
  contents.on('did-fail-load', (_, code, description, address, isMainFrame) => {
    if (!isMainFrame || code === aborted) return;
    isOwnLoad = false;
    if (address.startsWith(noticeStart)) return;
    const pause = pauses[Math.min(failures, pauses.length - 1)] ?? 0;
    failures += 1;
    const text = `The page does not answer (${description}). It is asked for again by itself.`;
    show(noticePage({ title: 'Homeport cannot be shown', text }));
    retry = clock.after(pause, load);
  });
  contents.on('render-process-gone', (_, { reason }) => {
    if (reason === 'clean-exit') return;
    const now = clock.now();
    crashes = [...crashes.filter((at) => now - at < crashWindowMs), now];
    if (crashes.length < maxCrashes) contents.reload();
    else {
      crashes = [];
      failing(load);
    }
  });

  return {
    go(wanted) {
      path = wanted;
      load();
    },
    serve(served) {
      base = served;
      if (base === undefined) return;
      const currentUrl = URL.parse(contents.getURL());
      // A page that was already loaded reconnects by itself.
      if (currentUrl?.origin === new URL(base).origin) return;
      if (currentUrl !== null && !showsNotice()) path = currentUrl.pathname + currentUrl.search;
      load();
    },
    renew() {
      if (base === undefined && showsNotice()) load();
    },
    [Symbol.dispose]: () => retry?.[Symbol.dispose](),
  };
}
