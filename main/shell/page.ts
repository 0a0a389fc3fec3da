import type { Clock } from '../../services/contracts/service.ts';
import { noticePage, noticeStart, type Notice } from '../desktop/notice-page.ts';
import type { ElectronWindow } from './electron.ts';

export interface PageOptions {
  readonly window: ElectronWindow;
  /** Address of the pages; undefined while they have none. */
  readonly base: string | undefined;
  readonly clock: Clock;
  /** What the window says while the pages are served nowhere. */
  readonly waiting: () => Notice;
  /** The page goes down again and again: `retry` loads it once more. */
  readonly failing: (retry: () => void) => void;
}

/** What the window shows: a page of the app, or a notice while there is none. */
export interface WindowPage extends Disposable {
  /** A path of the app; shown as soon as the pages are served. */
  go(path: string): void;
  /** Address that the pages have from now on; undefined while they have none. */
  serve(base: string | undefined): void;
  /** What {@link PageOptions.waiting} says has changed. */
  renew(): void;
}

/** Chromium's number for a load that another one took the place of. */
const aborted = -3;
/** ms before a page that could not be loaded is asked for again; the last goes on. */
const pauses = [1000, 2000, 5000, 10_000, 30_000] as const;
/** So many ends of the page's process within a minute are no accident. */
const mostCrashes = 3;
const crashWindowMs = 60_000;

export function openPage({ window, clock, waiting, failing, ...options }: PageOptions): WindowPage {
  const contents = window.webContents;
  let { base } = options;
  let path = '/';
  let failures = 0;
  let retry: Disposable | undefined;
  let crashes: readonly number[] = [];
  /** A load that the app itself began is under way. */
  let isOwnLoad = false;

  const show = (address: string): void => {
    retry?.[Symbol.dispose]();
    isOwnLoad = true;
    // A load that fails is told by its event as well.
    window.loadURL(address).catch(() => undefined);
  };
  const load = (): void => show(base === undefined ? noticePage(waiting()) : base + path);
  const showsNotice = (): boolean => contents.getURL().startsWith(noticeStart);

  contents.on('will-prevent-unload', (event) => {
    // Electron asks nobody: a page with something unsaved would stay, and a person who came from the tray see nothing happen.
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
    if (crashes.length < mostCrashes) contents.reload();
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
      const shown = URL.parse(contents.getURL());
      // A page that was there before finds its way back.
      if (shown?.origin === new URL(base).origin) return;
      if (shown !== null && !showsNotice()) path = shown.pathname + shown.search;
      load();
    },
    renew() {
      if (base === undefined && showsNotice()) load();
    },
    [Symbol.dispose]: () => retry?.[Symbol.dispose](),
  };
}
