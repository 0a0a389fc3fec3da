import type { Log } from '../contracts/service.ts';
import type { PopupEvent } from '../contracts/popups/desktop.ts';
import type { Brief } from './rules.ts';

interface PopupActions {
  readonly log: Log;
  readonly openPage: (path: string) => void;
  readonly openLink: (url: string) => void;
  readonly markRead: (ids: readonly number[]) => Promise<void>;
}

/** Handles an event of a popup that represents these rows; `brief` is the displayed message. */
export type PopupEventHandler = (event: PopupEvent, ids: readonly number[], brief: Brief | undefined) => void;

/** Creates the handler of popup events; `onSeen` is called with the rows that the user has seen. */
export function createPopupEventHandler(
  { log, openLink, openPage, markRead }: PopupActions,
  onSeen: (ids: readonly number[]) => void,
): PopupEventHandler {
  let hasFailed = false;
  return (event, ids, brief) => {
    if (event === 'shown') hasFailed = false;
    else if (event === 'clicked') {
      // A click counts as seen, even when the opened page does not mark the row as read.
      onSeen(ids);
      if (brief?.link) openLink(brief.link);
      else openPage(brief === undefined ? '/inbox' : `/inbox/${String(brief.id)}`);
    } else if (typeof event === 'object' && 'action' in event) {
      onSeen(ids);
      if (event.action === 'read') {
        markRead(ids).catch((error: unknown) => log.warn('popup read marking failed', { error }));
      }
    } else if (typeof event === 'object') {
      if (!hasFailed) log.warn('popup display failed', { reason: event.failed });
      hasFailed = true;
    }
  };
}
