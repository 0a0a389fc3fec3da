import type { Log } from '../contracts/service.ts';
import type { PopupEvent } from '../contracts/popups/desktop.ts';
import type { Brief } from './rules.ts';

interface Doors {
  readonly log: Log;
  readonly openPage: (path: string) => void;
  readonly openLink: (url: string) => void;
  readonly markRead: (ids: readonly number[]) => Promise<void>;
}

/** What became of a popup that stood for these rows; `brief`: the one it showed. */
export type Answer = (event: PopupEvent, ids: readonly number[], brief: Brief | undefined) => void;

/** Does what a popup was answered with; `seen` hears of the rows somebody has seen by it. */
export function answers({ log, openLink, openPage, markRead }: Doors, seen: (ids: readonly number[]) => void): Answer {
  let failing = false;
  return (event, ids, brief) => {
    if (event === 'shown') failing = false;
    else if (event === 'clicked') {
      // Who clicked has seen it, whether or not the page they land on marks it read.
      seen(ids);
      if (brief?.link) openLink(brief.link);
      else openPage(brief === undefined ? '/inbox' : `/inbox/${String(brief.id)}`);
    } else if (typeof event === 'object' && 'action' in event) {
      seen(ids);
      if (event.action === 'read') {
        markRead(ids).catch((error: unknown) => log.warn('messages could not be marked as read', { error }));
      }
    } else if (typeof event === 'object') {
      if (!failing) log.warn('popups cannot be shown; messages are in the inbox', { reason: event.failed });
      failing = true;
    }
  };
}
