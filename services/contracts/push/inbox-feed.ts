import { defineFeed } from '../feeds.ts';
import { InboxOffer } from '../inbox/api.ts';

/** Messages that the inbox shows, in the order in which they were published. Served by push; the key is the notice's identity. */
export const pushInboxFeed = defineFeed('push.inbox', InboxOffer);
