import { z } from 'zod';
import type { Feed, Feeds, FeedSource } from '../../../services/contracts/feeds.ts';
import type { Log } from '../../../services/contracts/service.ts';

/** Feeds within this process. An entry that does not have the feed's form is logged and left out: it would never be taken. */
export function createFeeds(log: Log): Feeds {
  const sources = new Map<string, FeedSource<unknown>>();
  const followers = new Map<string, () => void>();

  return {
    serve<T>(feed: Feed<T>, source: FeedSource<T>) {
      if (sources.has(feed.name)) throw new Error(`${feed.name} is served already`);
      sources.set(feed.name, source);
      const grown = (): void => followers.get(feed.name)?.();
      grown();
      return {
        entriesAdded: grown,
        [Symbol.dispose]() {
          if (sources.get(feed.name) === source) sources.delete(feed.name);
        },
      };
    },

    follow<T>(feed: Feed<T>, grown: () => void) {
      if (followers.has(feed.name)) throw new Error(`${feed.name} is followed already`);
      followers.set(feed.name, grown);
      return {
        async after(place: number, limit: number) {
          const page = await sources.get(feed.name)?.after(place, limit);
          if (page === undefined) return undefined;
          const entries = page.entries.flatMap(({ key, payload }) => {
            const read = z.safeParse(feed.schema, payload);
            if (read.success) return [{ key, payload: read.data }];
            log.error('an entry of a feed does not have its form', { feed: feed.name, key, error: read.error });
            return [];
          });
          return { ...page, entries };
        },
        [Symbol.dispose]() {
          if (followers.get(feed.name) === grown) followers.delete(feed.name);
        },
      };
    },
  };
}
