import { setTimeout as pause } from 'node:timers/promises';
import type { FeedEntry, FollowedFeed } from '../contracts/feeds.ts';
import type { InboxItem, InboxOffer } from '../contracts/inbox/api.ts';
import { Problem } from '../contracts/problem.ts';
import { pushInboxFeed } from '../contracts/push/inbox-feed.ts';
import type { Context } from '../contracts/service.ts';
import { bound } from './item-text.ts';
import type { FeedPlaces } from './store/feed-positions.ts';
import type { ItemStore } from './store/items.ts';

/** Entries that one commit takes at most. */
const largestBatch = 200;
/** ms from one batch to the next, unless more than a batch is there: under load a commit then serves many publishes. */
const stretch = 25;
/** Places that are skipped without a note of it: entries of no interest are read again after a crash. */
const unnoted = 1000;
/** ms until what failed is tried again: the first wait doubles up to the longest. */
const firstWait = 1000;
const longestWait = 60_000;

export interface FollowParts {
  readonly context: Pick<Context, 'clock' | 'commit' | 'feeds' | 'log'>;
  readonly items: ItemStore;
  readonly places: FeedPlaces;
  /** New rows are committed. */
  readonly added: (items: readonly InboxItem[]) => void;
}

/** Takes in what push publishes: the rows, and the place that is reached with them, in one commit. */
export class Follow implements AsyncDisposable {
  readonly #parts: FollowParts;
  readonly #open = new DisposableStack();
  #feed: FollowedFeed<InboxOffer> | undefined;
  #running: Promise<void> | undefined;
  #grown = false;
  /** What is stored, and what is known to be reached. */
  #stored = 0;
  #reached = 0;
  #wait = firstWait;
  #waiting = false;

  constructor(parts: FollowParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#stored = this.#reached = await this.#parts.places.read(pushInboxFeed.name);
    const feed = this.#parts.context.feeds.follow(pushInboxFeed, () => this.#wake());
    this.#feed = this.#open.use(feed);
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open.dispose();
    await this.#running;
  }

  #wake(): void {
    this.#grown = true;
    if (this.#waiting || this.#open.disposed) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      // Between the last look and this moment.
      if (this.#grown) this.#wake();
    });
  }

  async #run(): Promise<void> {
    try {
      while (this.#grown && !this.#open.disposed) {
        this.#grown = false;
        while (!this.#open.disposed && (await this.#take()));
        this.#wait = firstWait;
        await pause(stretch, undefined, { ref: false });
      }
      // By asking once more it tells what is stored, which the source then need not keep.
      if (!this.#open.disposed && (await this.#take())) this.#grown = true;
    } catch (error) {
      this.#parts.context.log.error('messages were not taken in; it is tried again', { error, retryMs: this.#wait });
      this.#retry();
    }
  }

  #retry(): void {
    this.#waiting = true;
    const ended = this.#parts.context.clock.after(this.#wait, () => {
      this.#waiting = false;
      this.#wake();
    });
    if (!this.#open.disposed) this.#open.use(ended);
    this.#wait = Math.min(this.#wait * 2, longestWait);
  }

  /** Takes the next page; false when that was all. */
  async #take(): Promise<boolean> {
    const page = await this.#feed?.after(this.#reached, largestBatch);
    if (page === undefined) return false;
    const { entries, reached, more } = page;
    if (entries.length > 0 || reached - this.#stored >= unnoted) {
      if (!(await this.#store(entries, reached))) {
        // Another host has taken them.
        this.#stored = this.#reached = await this.#parts.places.read(pushInboxFeed.name);
        return true;
      }
      this.#stored = reached;
    }
    this.#reached = reached;
    return more;
  }

  /** False when the place is not the one that was stored last: nothing was taken. */
  async #store(entries: readonly FeedEntry<InboxOffer>[], reached: number): Promise<boolean> {
    try {
      return await this.#commit(entries, reached);
    } catch (error) {
      // The database is full or away, which holds for each of them.
      if (error instanceof Problem || entries.length === 0) throw error;
    }
    for (const entry of entries) {
      try {
        if (!(await this.#commit([entry], this.#stored))) return false;
      } catch (error) {
        if (error instanceof Problem) throw error;
        this.#parts.context.log.error('a message that the database refuses is left out', { key: entry.key, error });
      }
    }
    return this.#commit([], reached);
  }

  async #commit(entries: readonly FeedEntry<InboxOffer>[], reached: number): Promise<boolean> {
    const { context, items, places, added } = this.#parts;
    const offers = entries.map(({ key, payload }) => ({ key, offer: bound(payload) }));
    const taken = await context.commit(async (transaction) =>
      (await places.move(transaction, pushInboxFeed.name, this.#stored, reached))
        ? items.add(transaction, offers, context.clock.now())
        : undefined,
    );
    if (taken !== undefined && taken.size > 0) added([...taken.values()]);
    return taken !== undefined;
  }
}
