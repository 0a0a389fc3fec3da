import { expect, it } from 'vitest';
import { createFeeds } from '../../../main/host/services/feeds.ts';
import { InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { pushInboxFeed } from '../../../services/contracts/push/inbox-feed.ts';
import { Follow } from '../../../services/inbox/feed-follower.ts';
import { FeedPlaces } from '../../../services/inbox/store/feed-positions.ts';
import { ItemStore } from '../../../services/inbox/store/items.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/place.ts';

eachDialect((_name, open, newPlace) => {
  const openInbox = async (place = newPlace()) => {
    const database = await open(place);
    await database.migrate(migrations);
    const items = new ItemStore(database.kysely);
    const places = new FeedPlaces(database.kysely);
    const clock = createFakeClock(5000);
    const errors: unknown[] = [];
    /** Fails commits while it says so. */
    const fault: { with: Error | undefined } = { with: undefined };
    const commit: typeof database.commit = async (work) => {
      if (fault.with !== undefined) throw fault.with;
      return database.commit(work);
    };
    const feeds = createFeeds(silentLog);
    const added: string[] = [];
    const log = { ...silentLog, error: (_message: string, fields?: object) => void errors.push(fields) };
    const start = async () => {
      const context = { clock, commit, feeds, log };
      const follow = new Follow({
        context,
        items,
        places,
        added: (rows) => added.push(...rows.map(({ body }) => body)),
      });
      await follow.start();
      return follow;
    };
    const bodies = async () => (await items.list({}, undefined, 1000)).map(({ body }) => body).toReversed();
    return { database, items, places, clock, errors, fault, feeds, added, start, bodies };
  };

  /** A source whose entry n has the place n; it notes what it was asked for. */
  const sourceOf = (texts: string[]) => {
    const asked: number[] = [];
    const after = (place: number, limit: number) => {
      asked.push(place);
      const some = texts.slice(place, place + limit);
      const entries = some.map((body, index) => ({
        key: `push:${String(place + index)}`,
        payload: InboxOffer.parse({ body, source: 'push', topic: 't', time: 1000 }),
      }));
      return Promise.resolve({ entries, reached: place + some.length, more: place + some.length < texts.length });
    };
    return { asked, after };
  };
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `m${from + index}`);

  it('takes what is there and what comes, in its order, and tells of each once', async () => {
    const { start, feeds, bodies, added, places } = await openInbox();
    const texts = numbered(0, 450);
    using served = feeds.serve(pushInboxFeed, sourceOf(texts));
    await using _follow = await start();
    await expect.poll(bodies).toEqual(numbered(0, 450));
    texts.push(...numbered(450, 460));
    served.grown();
    await expect.poll(bodies).toEqual(numbered(0, 460));
    expect(added).toEqual(numbered(0, 460));
    expect(await places.read(pushInboxFeed.name)).toBe(460);
  });

  it('goes on after a restart where it was, and when the source has come', async () => {
    const { start, feeds, bodies } = await openInbox();
    const texts = numbered(0, 5);
    {
      await using _follow = await start();
      using _served = feeds.serve(pushInboxFeed, sourceOf(texts));
      await expect.poll(bodies).toHaveLength(5);
    }
    texts.push('m5');
    const source = sourceOf(texts);
    await using _follow = await start();
    using _served = feeds.serve(pushInboxFeed, source);
    await expect.poll(bodies).toEqual(numbered(0, 6));
    expect(source.asked[0]).toBe(5);
  });

  it('takes nothing twice that a source of an older past hands out again', async () => {
    const { start, feeds, bodies } = await openInbox();
    const texts = numbered(0, 10);
    {
      await using _follow = await start();
      using _served = feeds.serve(pushInboxFeed, sourceOf(texts));
      await expect.poll(bodies).toHaveLength(10);
    }
    const source = sourceOf([...texts, 'new']);
    await using _follow = await start();
    using _served = feeds.serve(pushInboxFeed, {
      after: (place, limit) => source.after(source.asked.length === 0 ? 7 : place, limit),
    });
    await expect.poll(bodies).toEqual([...texts, 'new']);
  });

  it('tries again what the database had no room for, and loses nothing of it', async () => {
    const { start, feeds, bodies, fault, clock, errors } = await openInbox();
    const texts = numbered(0, 3);
    fault.with = new Problem('database.full', 507, 'full', { retryable: true });
    using served = feeds.serve(pushInboxFeed, sourceOf(texts));
    await using _follow = await start();
    await expect.poll(() => errors).toHaveLength(1);
    served.grown();
    clock.advance(1000);
    await expect.poll(() => errors).toHaveLength(2);
    fault.with = undefined;
    expect(await bodies()).toEqual([]);
    clock.advance(2000);
    await expect.poll(bodies).toEqual(texts);
  });

  it('leaves out the one that the database refuses, and takes those around it', async () => {
    const { start, feeds, bodies, database, errors, places } = await openInbox();
    // What no check has foreseen.
    await database.kysely.schema.createIndex('items_body').on('items').column('body').unique().execute();
    const texts = ['a', 'b', 'a', 'c'];
    using _served = feeds.serve(pushInboxFeed, sourceOf(texts));
    await using _follow = await start();
    await expect.poll(bodies).toEqual(['a', 'b', 'c']);
    await expect.poll(() => places.read(pushInboxFeed.name)).toBe(4);
    expect(errors).toEqual([expect.objectContaining({ key: 'push:2' })]);
  });

  it('shares the feed with another host on the same tables', async () => {
    const place = newPlace();
    const one = await openInbox(place);
    const other = await openInbox(place);
    const texts = numbered(0, 700);
    using _first = one.feeds.serve(pushInboxFeed, sourceOf(texts));
    using _second = other.feeds.serve(pushInboxFeed, sourceOf(texts));
    await using _follow = await one.start();
    await using _another = await other.start();
    await expect.poll(() => one.places.read(pushInboxFeed.name)).toBe(700);
    expect(await one.items.count({})).toBe(700);
    await expect.poll(() => [...one.added, ...other.added].toSorted()).toEqual(texts.toSorted());
  });
});
