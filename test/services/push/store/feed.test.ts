import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { createFeeds } from '../../../../main/host/services/feeds.ts';
import { pushInboxFeed } from '../../../../services/contracts/inbox/push-feed.ts';
import { InboxFeed } from '../../../../services/push/publish/inbox-feed.ts';
import { FeedStore } from '../../../../services/push/store/feed.ts';
import { MessageStore } from '../../../../services/push/store/messages.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { removeNow } from '../../../../services/push/store/removal.ts';
import { eachDialect } from '../../../support/database.ts';
import { silentLog } from '../../../support/database-location.ts';

const inbox = '{"source":"push"}';

eachDialect((name, open, createLocation) => {
  const openFeed = async (location = createLocation()) => {
    const database = await open(location);
    await database.migrate(migrations);
    const store = new MessageStore(database.kysely);
    const feed = async (singleHost = name === 'sqlite') => {
      const feeds = createFeeds(silentLog);
      const followed = feeds.follow(pushInboxFeed, () => undefined);
      const source = new InboxFeed({ feeds, singleHost }, new FeedStore(database.kysely));
      await source.start();
      const after = async (from: number, limit = 200) => {
        const page = await followed.after(from, limit);
        return { ...page, entries: page?.entries.map(({ payload }) => payload.body) };
      };
      return { source, after };
    };
    const toRow = (id: string, of: { inbox?: string; expires?: number } = { inbox }) => ({
      id,
      topic: 't',
      time: 100,
      expires: 1000,
      ...of,
      text: JSON.stringify({ id, time: 100, event: 'message', topic: 't', message: id }),
    });
    const add = (...rows: ReturnType<typeof toRow>[]) =>
      database.commit((transaction) => store.insert(transaction, rows));
    return { database, store, feed, toRow, add };
  };

  it('returns inbox messages page by page and skips others', async () => {
    const { feed, toRow, add } = await openFeed();
    await add(toRow('a'), toRow('no', {}), toRow('b'), toRow('c'), toRow('no 2', {}));
    const { after } = await feed();
    expect(await after(0, 2)).toEqual({ entries: ['a'], position: 2, hasMore: true });
    expect(await after(2, 2)).toEqual({ entries: ['b', 'c'], position: 4, hasMore: true });
    expect(await after(4, 2)).toEqual({ entries: [], position: 5, hasMore: false });
    expect(await after(5, 2)).toEqual({ entries: [], position: 5, hasMore: false });
  });

  it('keeps expired messages until the inbox has them, at most for a day', async () => {
    const { feed, toRow, add, database, store } = await openFeed();
    await add(toRow('a'), toRow('other', {}), toRow('b'));
    const { source, after } = await feed();
    const remove = (now: number) =>
      database.commit((transaction) => store.removeExpired(transaction, now, 100, source.cursor));
    expect(await remove(2000)).toEqual([2]);
    await after(1);
    expect(await remove(2000)).toEqual([1]);
    expect(await remove(100 + 24 * 3600 - 1)).toEqual([]);
    expect(await remove(100 + 24 * 3600)).toEqual([3]);
  });

  it('hides deleted messages immediately, and still returns them to the inbox', async () => {
    const { feed, toRow, add, database, store } = await openFeed();
    await add(toRow('a'), toRow('other', {}));
    const removed = await database.commit((transaction) => removeNow(transaction, (row) => row('topic', '=', 't')));
    expect(removed.map(({ id }) => id).toSorted()).toEqual(['a', 'other']);
    expect([await store.count(), await store.total(), await store.findSeq('a')]).toEqual([0, 0, undefined]);
    expect(await store.latest('t', 100, 1)).toBeUndefined();
    const { source, after } = await feed();
    expect((await after(0)).entries).toEqual(['a']);
    await after(1);
    const expired = await database.commit((transaction) => store.removeExpired(transaction, 500, 100, source.cursor));
    expect(expired).toEqual([1]);
  });

  if (name === 'sqlite') {
    it('restarts for a reader with a position that these tables never assigned', async () => {
      const { feed, toRow, add } = await openFeed();
      await add(toRow('a'), toRow('b'));
      // The backup of the inbox is newer than that of push and contains c and d, which are lost here.
      const { after } = await feed();
      await add(toRow('new c'), toRow('new d'), toRow('new e'));
      expect(await after(4)).toEqual({ entries: ['new c', 'new d', 'new e'], position: 5, hasMore: false });
      expect(await after(5)).toEqual({ entries: [], position: 5, hasMore: false });
    });
  } else {
    it('waits for uncommitted messages of another host', async () => {
      const location = createLocation();
      const { feed, toRow, add, store } = await openFeed(location);
      const secondHost = await open(location);
      const { after } = await feed();
      const [inserted, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = secondHost.kysely.transaction().execute(async (transaction: Kysely<any>) => {
        await store.insert(transaction, [toRow('slow')]);
        inserted.resolve();
        await release.promise;
      });
      await inserted.promise;
      await add(toRow('quick'));
      const page = after(0);
      // It waits for the slow transaction instead of passing it.
      const first = await Promise.race([page, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))]);
      release.resolve();
      await slow;
      expect(first).toBe('waits');
      expect((await page).entries).toEqual(['slow', 'quick']);
    });
  }
});
