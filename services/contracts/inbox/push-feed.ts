import { defineFeed } from '../feeds.ts';
import { InboxOffer } from './api.ts';

/** Messages for the inbox in the order of publication. Served by push; the key is the identity of the notification. */
export const pushInboxFeed = defineFeed('push.inbox', InboxOffer);
