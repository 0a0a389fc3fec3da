import type { Clock } from '../../services/contracts/service.ts';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import { videoLink } from './video-links.ts';

/** No system tells of a copy, so that one looks. */
const lookEveryMs = 1500;

export interface ClipboardParts {
  readonly clock: Clock;
  readonly read: () => Promise<string>;
  readonly notifier: Pick<Notifier, 'show'>;
  /** Opens a page of ours by its path. */
  readonly open: (path: string) => void;
  readonly onError: (error: unknown) => void;
}

export interface ClipboardWatch extends Disposable {
  /** Off, the clipboard is not read at all. */
  turn(on: boolean): void;
}

/**
 * Offers a video link that was copied, once, by a popup. A press on that opens the page with the link filled in, where the
 * person decides; the link goes nowhere before, and what else is on the clipboard is looked at and forgotten.
 */
export function watchClipboard({ clock, read, notifier, open, onError }: ClipboardParts): ClipboardWatch {
  let timer: Disposable | undefined;
  /** Undefined until it was read once: what was copied before is none of our business. */
  let last: string | undefined;
  /** Counts the times it was switched: a reading that comes late says nothing. */
  let turns = 0;

  const look = async (): Promise<void> => {
    const turn = turns;
    const text = await read();
    if (turn !== turns || text === last) return;
    const first = last === undefined;
    last = text;
    const link = first ? undefined : videoLink(text);
    if (link !== undefined) offer(link);
  };

  const offer = (link: string): void => {
    const { hostname, pathname } = new URL(link);
    notifier.show(
      {
        ...{ id: 'desktop-clipboard', title: 'Download this video?', urgency: 'low', silent: true },
        body: `${hostname}${pathname}`.slice(0, 120),
        group: 'downloads',
        actions: [{ id: 'download', label: 'Choose' }],
      },
      (event) => {
        const pressed = event === 'clicked' || (typeof event === 'object' && 'action' in event);
        if (pressed) open(`/downloads?${new URLSearchParams({ add: link }).toString()}`);
      },
    );
  };

  const stop = (): void => {
    timer?.[Symbol.dispose]();
    timer = undefined;
    last = undefined;
    turns += 1;
  };

  return {
    turn(on) {
      stop();
      if (!on) return;
      const looking = (): void => void look().catch(onError);
      timer = clock.every(lookEveryMs, looking);
      looking();
    },
    [Symbol.dispose]: stop,
  };
}
