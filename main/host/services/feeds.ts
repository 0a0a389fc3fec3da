import { z } from 'zod';
import type { Feed, Feeds, FeedSource } from '../../../services/contracts/feeds.ts';
import type { Log } from '../../../services/contracts/service.ts';

/**
 * Creates the feeds of this process. An entry that violates the feed's schema is logged and skipped, since it would
 * never be accepted.
 */
export function createFeeds(log: Log): Feeds {
  const sources = new Map<string, FeedSource<unknown>>();
  const followers = new Map<string, () => void>();

  return {
    serve<T>(feed: Feed<T>, source: FeedSource<T>) {
      if (sources.has(feed.name)) throw new Error(`${feed.name} is served already`);
      sources.set(feed.name, source);
      const onEntriesAdded = (): void => followers.get(feed.name)?.();
      onEntriesAdded();
      return {
        entriesAdded: onEntriesAdded,
        [Symbol.dispose]() {
          if (sources.get(feed.name) === source) sources.delete(feed.name);
        },
      };
    },

    follow<T>(feed: Feed<T>, onEntriesAdded: () => void) {
      if (followers.has(feed.name)) throw new Error(`${feed.name} is followed already`);
      followers.set(feed.name, onEntriesAdded);
      return {
        async after(position: number, limit: number) {
          const page = await sources.get(feed.name)?.after(position, limit);
          if (page === undefined) return undefined;
          const entries = page.entries.flatMap(({ key, payload }) => {
            const read = z.safeParse(feed.schema, payload);
            if (read.success) return [{ key, payload: read.data }];
            log.error('feed entry invalid', { feed: feed.name, key, error: read.error });
            return [];
          });
          return { ...page, entries };
        },
        [Symbol.dispose]() {
          if (followers.get(feed.name) === onEntriesAdded) followers.delete(feed.name);
        },
      };
    },
  };
}
