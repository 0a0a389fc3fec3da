import type { FeedPage, FeedSource } from '../../contracts/feeds.ts';
import type { InboxOffer } from '../../contracts/inbox/api.ts';
import { pushInboxFeed } from '../../contracts/inbox/push-feed.ts';
import type { Context } from '../../contracts/service.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import type { FeedStore } from '../store/feed.ts';
import { buildInboxEntry } from './inbox-copy.ts';

/** Feed of the messages for the inbox, read by sequence number. */
export class InboxFeed implements FeedSource<InboxOffer> {
  readonly #context: Pick<Context, 'feeds' | 'singleHost'>;
  readonly #store: FeedStore;
  #feed: ReturnType<Context['feeds']['serve']> | undefined;
  /**
   * Highest number returned to a reader. A larger position comes from a reader whose backup is newer than this
   * database.
   */
  #handedOut = 0;
  #cursor = 0;

  constructor(context: Pick<Context, 'feeds' | 'singleHost'>, store: FeedStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Number of the last message that the inbox has stored, as far as reported. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Must be called before anything is published. */
  async start(): Promise<Disposable> {
    this.#handedOut = await this.#store.top();
    const served = this.#context.feeds.serve(pushInboxFeed, this);
    this.#feed = served;
    return served;
  }

  /** Notifies readers that messages were committed, by this or another host. */
  notifyGrown(): void {
    this.#feed?.entriesAdded();
  }

  async after(position: number, limit: number): Promise<FeedPage<InboxOffer>> {
    // The backup of the inbox may be newer than that of push, so numbers may be assigned a second time.
    const from = this.#context.singleHost ? Math.min(position, this.#handedOut) : position;
    this.#cursor = Math.max(this.#cursor, from);
    const top = await this.#store.top();
    const rows = top > from ? await this.#store.after(from, top, limit) : [];
    const more = rows.length === limit;
    const reached = more ? (rows.at(-1)?.seq ?? from) : Math.max(top, from);
    this.#handedOut = Math.max(this.#handedOut, reached);
    const entries = rows.flatMap(({ text, inbox }) =>
      inbox === null ? [] : [buildInboxEntry(parseStoredMessage(text), inbox)],
    );
    return { entries, position: reached, hasMore: more };
  }
}
