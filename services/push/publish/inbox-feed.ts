import type { FeedPage, FeedSource } from '../../contracts/feeds.ts';
import type { InboxOffer } from '../../contracts/inbox/api.ts';
import { pushInboxFeed } from '../../contracts/push/inbox-feed.ts';
import type { Context } from '../../contracts/service.ts';
import { readStored } from '../subscribe/envelope.ts';
import type { FeedStore } from '../store/feed.ts';
import { inboxEntry } from './inbox-copy.ts';

/** Serves the messages that are meant for the inbox, which follows them by their numbers. */
export class InboxFeed implements FeedSource<InboxOffer> {
  readonly #context: Pick<Context, 'feeds' | 'singleHost'>;
  readonly #store: FeedStore;
  #served: ReturnType<Context['feeds']['serve']> | undefined;
  /** No follower of these tables can be further than this, unless it remembers messages that they never had. */
  #handedOut = 0;
  #taken = 0;

  constructor(context: Pick<Context, 'feeds' | 'singleHost'>, store: FeedStore) {
    this.#context = context;
    this.#store = store;
  }

  /** The inbox has stored the messages up to this one, as far as it said so. */
  get taken(): number {
    return this.#taken;
  }

  /** Call before anything is published. */
  async start(): Promise<Disposable> {
    this.#handedOut = await this.#store.top();
    const served = this.#context.feeds.serve(pushInboxFeed, this);
    this.#served = served;
    return served;
  }

  /** Messages were committed, here or by another host. */
  grown(): void {
    this.#served?.entriesAdded();
  }

  async after(place: number, limit: number): Promise<FeedPage<InboxOffer>> {
    // A backup of the inbox may be a moment younger than that of push: numbers then come a second time.
    const from = this.#context.singleHost ? Math.min(place, this.#handedOut) : place;
    this.#taken = Math.max(this.#taken, from);
    const top = await this.#store.top();
    const rows = top > from ? await this.#store.after(from, top, limit) : [];
    const more = rows.length === limit;
    const reached = more ? (rows.at(-1)?.seq ?? from) : Math.max(top, from);
    this.#handedOut = Math.max(this.#handedOut, reached);
    const entries = rows.flatMap(({ text, inbox }) => (inbox === null ? [] : [inboxEntry(readStored(text), inbox)]));
    return { entries, position: reached, hasMore: more };
  }
}
