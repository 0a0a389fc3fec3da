import type { z } from 'zod';

/**
 * Durable list that one service provides and at most one other service follows. The follower stores its position in
 * the transaction that stores the entries, so that a crash neither loses nor duplicates entries.
 */
export interface Feed<T> {
  /** `<source service>.<content>`, e.g. `push.inbox`. */
  readonly name: string;
  /** Checked for each entry when it is read. */
  readonly schema: z.core.$ZodType<T>;
}

/** Entry of a feed. */
export interface FeedEntry<T> {
  /** Identity of the entry: a follower ignores known keys. */
  readonly key: string;
  readonly payload: T;
}

/** Page of a feed. */
export interface FeedPage<T> {
  /** Oldest first. */
  readonly entries: readonly FeedEntry<T>[];
  /** Position that the follower has reached after storing these entries. */
  readonly position: number;
  /** False when this is the last page; true when another page may follow. */
  readonly hasMore: boolean;
}

/** Stored entries of a feed, read in order of their position. */
export interface FeedSource<T> {
  /**
   * Returns up to `limit` entries after a position; an empty page can be followed by another one. The caller has
   * stored all entries up to that position, so the source may delete them.
   */
  after(position: number, limit: number): Promise<FeedPage<T>>;
}

/** Ordered, durable streams of entries from one service to others. */
export interface Feeds {
  /**
   * Registers the source of a feed; at most one is allowed. Call `entriesAdded` after adding entries, and
   * occasionally in case another host added some.
   */
  serve<T>(feed: Feed<T>, source: FeedSource<T>): Disposable & { entriesAdded(): void };
  /** Follows a feed. The callback runs when there may be new entries, and when the source becomes available. */
  follow<T>(feed: Feed<T>, onEntriesAdded: () => void): Disposable & FollowedFeed<T>;
}

/** Feed as its followers read it. */
export interface FollowedFeed<T> {
  /** Reads from the source; undefined while the feed has none. */
  after(position: number, limit: number): Promise<FeedPage<T> | undefined>;
}

/** Defines a feed; source and followers share the returned value. */
export function defineFeed<T>(name: string, schema: z.core.$ZodType<T>): Feed<T> {
  return { name, schema };
}
