import type { z } from 'zod';

/**
 * A durable list that one service keeps and another follows, at most one of them. The follower keeps the place it has
 * reached in the transaction that stores what it took, so that a crash at any moment loses nothing and doubles nothing.
 */
export interface Feed<T> {
  /** `<service that keeps it>.<what is in it>`, e.g. `push.inbox`. */
  readonly name: string;
  /** Checked for each entry as it is handed out. */
  readonly schema: z.core.$ZodType<T>;
}

export interface FeedEntry<T> {
  /** Its identity: a follower that knows it ignores the entry. */
  readonly key: string;
  readonly payload: T;
}

/** A stretch of a feed. */
export interface FeedPage<T> {
  /** The oldest first. */
  readonly entries: readonly FeedEntry<T>[];
  /** Who has stored these entries has everything up to this place. */
  readonly position: number;
  /** Another page follows, perhaps; false: this was all. */
  readonly hasMore: boolean;
}

export interface FeedSource<T> {
  /**
   * Up to `limit` entries after a place; also a page without any may have another behind it. Who asks has stored everything up to that place, so
   * that the source need not keep it any longer.
   */
  after(position: number, limit: number): Promise<FeedPage<T>>;
}

export interface Feeds {
  /** At most one source per feed. Call `grown` when there are new entries, and once in a while in case others added some. */
  serve<T>(feed: Feed<T>, source: FeedSource<T>): Disposable & { entriesAdded(): void };
  /** `grown` is called when there may be new entries, also when the source begins to serve. */
  follow<T>(feed: Feed<T>, onEntriesAdded: () => void): Disposable & FollowedFeed<T>;
}

export interface FollowedFeed<T> {
  /** As the source's; undefined while nobody serves the feed. */
  after(position: number, limit: number): Promise<FeedPage<T> | undefined>;
}

export function defineFeed<T>(name: string, schema: z.core.$ZodType<T>): Feed<T> {
  return { name, schema };
}
