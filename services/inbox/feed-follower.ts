import { setTimeout as pause } from 'node:timers/promises';
import type { FeedEntry, FollowedFeed } from '../contracts/feeds.ts';
import type { InboxItem, InboxOffer } from '../contracts/inbox/api.ts';
import { Problem } from '../contracts/problem.ts';
import { pushInboxFeed } from '../contracts/inbox/push-feed.ts';
import type { Context } from '../contracts/service.ts';
import { normalizeOffer } from './item-text.ts';
import type { FeedPositions } from './store/feed-positions.ts';
import type { ItemStore } from './store/items.ts';
import { CoalescedRun } from '../kit/coalesced-run.ts';
import { getExponentialDelayMs } from '../kit/backoff.ts';

/** Maximum number of entries in one commit. */
const maxBatchSize = 200;
/**
 * Delay in ms between batches, unless a full batch is available; under load one commit then covers many publications.
 */
const batchDelayMs = 25;
/** Number of skipped positions that are not saved: after a crash, entries without inbox copy are read again. */
const maxUnsavedPositions = 1000;
/** Delays before a failed read is repeated. */
const backoff = { firstMs: 1000, maxMs: 60_000 } as const;

export interface FeedFollowerDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'feeds' | 'inHostLanguage' | 'log'>;
  readonly items: ItemStore;
  readonly positions: FeedPositions;
  /** Called after new rows are committed. */
  readonly onAdded: (items: readonly InboxItem[]) => void;
}

/** Stores the messages that push publishes; rows and feed position are saved in one commit. */
export class FeedFollower implements AsyncDisposable {
  readonly #dependencies: FeedFollowerDependencies;
  readonly #resources = new DisposableStack();
  #feed: FollowedFeed<InboxOffer> | undefined;
  readonly #reads = new CoalescedRun(() => this.#run());
  /** Positions that are stored and that were read. */
  #storedPosition = 0;
  #readPosition = 0;
  /** Consecutive failed reads. */
  #failures = 0;
  #isRetryPending = false;

  constructor(dependencies: FeedFollowerDependencies) {
    this.#dependencies = dependencies;
  }

  async start(): Promise<void> {
    this.#storedPosition = this.#readPosition = await this.#dependencies.positions.read(pushInboxFeed.name);
    const feed = this.#dependencies.context.feeds.follow(pushInboxFeed, () => this.#wake());
    this.#feed = this.#resources.use(feed);
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resources.dispose();
    await this.#reads[Symbol.asyncDispose]();
  }

  #wake(): void {
    // A retry reads everything that was added in the meantime.
    if (!this.#isRetryPending) this.#reads.request();
  }

  async #run(): Promise<void> {
    try {
      while (!this.#resources.disposed && (await this.#takePage()));
      this.#failures = 0;
      await pause(batchDelayMs, undefined, { ref: false });
      // Another read reports the stored position, so that the source can delete those entries.
      if (!this.#resources.disposed && (await this.#takePage())) this.#wake();
    } catch (error) {
      this.#failures += 1;
      const retryMs = getExponentialDelayMs(backoff, this.#failures);
      this.#dependencies.context.log.error('inbox feed read failed', { error, retryMs });
      this.#retry(retryMs);
    }
  }

  #retry(ms: number): void {
    this.#isRetryPending = true;
    const timer = this.#dependencies.context.clock.after(ms, () => {
      this.#isRetryPending = false;
      this.#wake();
    });
    if (!this.#resources.disposed) this.#resources.use(timer);
  }

  /** Stores the next page; returns false when it was the last. */
  async #takePage(): Promise<boolean> {
    const page = await this.#feed?.after(this.#readPosition, maxBatchSize);
    if (page === undefined) return false;
    const { entries, position, hasMore } = page;
    if (entries.length > 0 || position - this.#storedPosition >= maxUnsavedPositions) {
      if (!(await this.#store(entries, position))) {
        // Another host has stored them.
        this.#storedPosition = this.#readPosition = await this.#dependencies.positions.read(pushInboxFeed.name);
        return true;
      }
      this.#storedPosition = position;
    }
    this.#readPosition = position;
    return hasMore;
  }

  /** Stores entries. Returns false when the stored position differs, and nothing was stored. */
  async #store(entries: readonly FeedEntry<InboxOffer>[], position: number): Promise<boolean> {
    try {
      return await this.#commit(entries, position);
    } catch (error) {
      // The database is full or unavailable, which affects every entry.
      if (error instanceof Problem || entries.length === 0) throw error;
    }
    for (const entry of entries) {
      try {
        if (!(await this.#commit([entry], this.#storedPosition))) return false;
      } catch (error) {
        if (error instanceof Problem) throw error;
        this.#dependencies.context.log.error('inbox message rejected by database', { key: entry.key, error });
      }
    }
    return this.#commit([], position);
  }

  async #commit(entries: readonly FeedEntry<InboxOffer>[], position: number): Promise<boolean> {
    const { context, items, positions, onAdded } = this.#dependencies;
    const offers = await context.inHostLanguage(() =>
      entries.map(({ key, payload }) => ({ key, offer: normalizeOffer(payload) })),
    );
    const inserted = await context.commit(async (transaction) =>
      (await positions.advance(transaction, pushInboxFeed.name, this.#storedPosition, position))
        ? items.add(transaction, offers, context.clock.now())
        : undefined,
    );
    if (inserted !== undefined && inserted.size > 0) onAdded([...inserted.values()]);
    return inserted !== undefined;
  }
}
