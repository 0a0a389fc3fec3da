import * as m from '#messages/desktop';
import type { Clock } from '../../services/contracts/service.ts';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import { findVideoLink } from './video-links.ts';

/** Polling interval, since no system reports copies. */
const pollIntervalMs = 1500;

export interface ClipboardDependencies {
  readonly clock: Clock;
  readonly read: () => Promise<string>;
  readonly notifier: Pick<Notifier, 'show'>;
  /** Opens a page of the app by its path. */
  readonly open: (path: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface ClipboardWatch extends Disposable {
  /** While disabled, the clipboard is not read. */
  turn(on: boolean): void;
}

/**
 * Offers a copied video link once in a popup. A click opens the page with the link filled in, where the user decides;
 * the link is not sent anywhere before, and other clipboard contents are not stored.
 */
export function watchClipboard({ clock, read, notifier, open, onError }: ClipboardDependencies): ClipboardWatch {
  let timer: Disposable | undefined;
  /** Undefined until the first read, which ignores earlier copies. */
  let lastText: string | undefined;
  /** Number of switches: the result of an outdated read is ignored. */
  let turns = 0;

  const readClipboard = async (): Promise<void> => {
    const turn = turns;
    const text = await read();
    if (turn !== turns || text === lastText) return;
    const first = lastText === undefined;
    lastText = text;
    const link = first ? undefined : findVideoLink(text);
    if (link !== undefined) offer(link);
  };

  const offer = (link: string): void => {
    const { hostname, pathname } = new URL(link);
    notifier.show(
      {
        id: 'desktop-clipboard',
        title: m.downloadVideo(),
        urgency: 'low',
        silent: true,
        body: `${hostname}${pathname}`.slice(0, 120),
        group: 'downloads',
        actions: [{ id: 'download', label: m.download() }],
      },
      (event) => {
        const isConfirmed = event === 'clicked' || (typeof event === 'object' && 'action' in event);
        if (isConfirmed) open(`/downloads?${new URLSearchParams({ add: link }).toString()}`);
      },
    );
  };

  const stop = (): void => {
    timer?.[Symbol.dispose]();
    timer = undefined;
    lastText = undefined;
    turns += 1;
  };

  return {
    turn(on) {
      stop();
      if (!on) return;
      const checkClipboard = (): void => void readClipboard().catch(onError);
      timer = clock.every(pollIntervalMs, checkClipboard);
      checkClipboard();
    },
    [Symbol.dispose]: stop,
  };
}
