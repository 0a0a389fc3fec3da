import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { createFeeds } from '../../../../main/host/services/feeds.ts';
import { pushInboxFeed } from '../../../../services/contracts/push/inbox-feed.ts';
import { InboxFeed } from '../../../../services/push/publish/inbox-feed.ts';
import { FeedStore } from '../../../../services/push/store/feed.ts';
import { MessageStore } from '../../../../services/push/store/messages.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { removeNow } from '../../../../services/push/store/removal.ts';
import { eachDialect } from '../../../support/database.ts';
import { silentLog } from '../../../support/place.ts';

const inbox = '{"source":"push"}';

eachDialect((name, open, newPlace) => {
  const openFeed = async (place = newPlace()) => {
    const database = await open(place);
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
    const rowOf = (id: string, of: { inbox?: string; expires?: number } = { inbox }) => ({
      id,
      topic: 't',
      time: 100,
      expires: 1000,
      ...of,
      text: JSON.stringify({ id, time: 100, event: 'message', topic: 't', message: id }),
    });
    const add = (...rows: ReturnType<typeof rowOf>[]) =>
      database.commit((transaction) => store.insert(transaction, rows));
    return { database, store, feed, rowOf, add };
  };

  it('hands out what is meant for the inbox, page by page, over what is not', async () => {
    const { feed, rowOf, add } = await openFeed();
    await add(rowOf('a'), rowOf('no', {}), rowOf('b'), rowOf('c'), rowOf('no 2', {}));
    const { after } = await feed();
    expect(await after(0, 2)).toEqual({ entries: ['a'], reached: 2, more: true });
    expect(await after(2, 2)).toEqual({ entries: ['b', 'c'], reached: 4, more: true });
    expect(await after(4, 2)).toEqual({ entries: [], reached: 5, more: false });
    expect(await after(5, 2)).toEqual({ entries: [], reached: 5, more: false });
  });

  it('keeps what has expired until the inbox has it, at most for a day', async () => {
    const { feed, rowOf, add, database, store } = await openFeed();
    await add(rowOf('a'), rowOf('other', {}), rowOf('b'));
    const { source, after } = await feed();
    const remove = (now: number) =>
      database.commit((transaction) => store.removeExpired(transaction, now, 100, source.cursor));
    expect(await remove(2000)).toEqual([2]);
    await after(1);
    expect(await remove(2000)).toEqual([1]);
    expect(await remove(100 + 24 * 3600 - 1)).toEqual([]);
    expect(await remove(100 + 24 * 3600)).toEqual([3]);
  });

  it('hides at once what is removed before its time, and hands it out all the same', async () => {
    const { feed, rowOf, add, database, store } = await openFeed();
    await add(rowOf('a'), rowOf('other', {}));
    const removed = await database.commit((transaction) => removeNow(transaction, (row) => row('topic', '=', 't')));
    expect(removed.map(({ id }) => id).toSorted()).toEqual(['a', 'other']);
    expect([await store.count(), await store.total(), await store.findSeq('a')]).toEqual([0, 0, undefined]);
    expect(await store.latest('t', 100, 1)).toBeUndefined();
    const { source, after } = await feed();
    expect((await after(0)).entries).toEqual(['a']);
    await after(1);
    const gone = await database.commit((transaction) => store.removeExpired(transaction, 500, 100, source.cursor));
    expect(gone).toEqual([1]);
  });

  if (name === 'sqlite') {
    it('begins anew for a follower that remembers numbers which these tables never gave', async () => {
      const { feed, rowOf, add } = await openFeed();
      await add(rowOf('a'), rowOf('b'));
      // The backup of the inbox is younger than that of push: it knows a c and a d that are lost here.
      const { after } = await feed();
      await add(rowOf('new c'), rowOf('new d'), rowOf('new e'));
      expect(await after(4)).toEqual({ entries: ['new c', 'new d', 'new e'], reached: 5, more: false });
      expect(await after(5)).toEqual({ entries: [], reached: 5, more: false });
    });
  } else {
    it('overtakes no message of another host that is not committed yet', async () => {
      const place = newPlace();
      const { feed, rowOf, add, store } = await openFeed(place);
      const other = await open(place);
      const { after } = await feed();
      const [inserted, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = other.kysely.transaction().execute(async (transaction: Kysely<any>) => {
        await store.insert(transaction, [rowOf('slow')]);
        inserted.resolve();
        await end.promise;
      });
      await inserted.promise;
      await add(rowOf('quick'));
      const page = after(0);
      // It waits for the slow one; answered at once, it would have gone past it.
      const first = await Promise.race([page, new Promise((resolve) => setTimeout(resolve, 200, 'waits'))]);
      end.resolve();
      await slow;
      expect(first).toBe('waits');
      expect((await page).entries).toEqual(['slow', 'quick']);
    });
  }
});
