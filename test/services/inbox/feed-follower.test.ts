import { expect, it } from 'vitest';
import { createFeeds } from '../../../main/host/services/feeds.ts';
import { InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { pushInboxFeed } from '../../../services/contracts/inbox/push-feed.ts';
import { FeedFollower } from '../../../services/inbox/feed-follower.ts';
import { FeedPositions } from '../../../services/inbox/store/feed-positions.ts';
import { ItemStore } from '../../../services/inbox/store/items.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';

eachDialect((_name, open, newLocation) => {
  const openInbox = async (location = newLocation()) => {
    const database = await open(location);
    await database.migrate(migrations);
    const items = new ItemStore(database.kysely);
    const positions = new FeedPositions(database.kysely);
    const clock = createFakeClock(5000);
    const errors: unknown[] = [];
    /** Error with which commits fail while it is set. */
    const fault: { with: Error | undefined } = { with: undefined };
    const commit: typeof database.commit = async (work) => {
      if (fault.with !== undefined) throw fault.with;
      return database.commit(work);
    };
    const feeds = createFeeds(silentLog);
    const added: string[] = [];
    const log = { ...silentLog, error: (_message: string, fields?: object) => void errors.push(fields) };
    const inHostLanguage = async <T>(work: () => T | Promise<T>): Promise<T> => work();
    const start = async () => {
      const context = { clock, commit, feeds, inHostLanguage, log };
      const follow = new FeedFollower({
        context,
        items,
        positions,
        onAdded: (rows) => added.push(...rows.map(({ body }) => body)),
      });
      await follow.start();
      return follow;
    };
    const bodies = async () => (await items.list({}, undefined, 1000)).map(({ body }) => body).toReversed();
    return { database, items, positions, clock, errors, fault, feeds, added, start, bodies };
  };

  /** Source whose entry n has position n; it records the requested positions. */
  const createSource = (texts: string[]) => {
    const requested: number[] = [];
    const after = (position: number, limit: number) => {
      requested.push(position);
      const page = texts.slice(position, position + limit);
      const entries = page.map((body, index) => ({
        key: `push:${String(position + index)}`,
        payload: InboxOffer.parse({ body, source: 'push', topic: 't', time: 1000 }),
      }));
      return Promise.resolve({
        entries,
        position: position + page.length,
        hasMore: position + page.length < texts.length,
      });
    };
    return { requested, after };
  };
  const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `m${from + index}`);

  it('stores existing and new entries in order and announces each once', async () => {
    const { start, feeds, bodies, added, positions } = await openInbox();
    const texts = numbered(0, 450);
    using served = feeds.serve(pushInboxFeed, createSource(texts));
    await using _follow = await start();
    await expect.poll(bodies).toEqual(numbered(0, 450));
    texts.push(...numbered(450, 460));
    served.entriesAdded();
    await expect.poll(bodies).toEqual(numbered(0, 460));
    // Rows are visible a moment before they are announced.
    await expect.poll(() => added).toEqual(numbered(0, 460));
    expect(await positions.read(pushInboxFeed.name)).toBe(460);
  });

  it('continues after a restart at its position, and when the source appears', async () => {
    const { start, feeds, bodies } = await openInbox();
    const texts = numbered(0, 5);
    {
      await using _follow = await start();
      using _served = feeds.serve(pushInboxFeed, createSource(texts));
      await expect.poll(bodies).toHaveLength(5);
    }
    texts.push('m5');
    const source = createSource(texts);
    await using _follow = await start();
    using _served = feeds.serve(pushInboxFeed, source);
    await expect.poll(bodies).toEqual(numbered(0, 6));
    expect(source.requested[0]).toBe(5);
  });

  it('stores no entry twice when a restored source returns it again', async () => {
    const { start, feeds, bodies } = await openInbox();
    const texts = numbered(0, 10);
    {
      await using _follow = await start();
      using _served = feeds.serve(pushInboxFeed, createSource(texts));
      await expect.poll(bodies).toHaveLength(10);
    }
    const source = createSource([...texts, 'new']);
    await using _follow = await start();
    using _served = feeds.serve(pushInboxFeed, {
      after: (position, limit) => source.after(source.requested.length === 0 ? 7 : position, limit),
    });
    await expect.poll(bodies).toEqual([...texts, 'new']);
  });

  it('retries after the database was full and loses nothing', async () => {
    const { start, feeds, bodies, fault, clock, errors } = await openInbox();
    const texts = numbered(0, 3);
    fault.with = new Problem('database.full', 507, 'full', { retryable: true });
    using served = feeds.serve(pushInboxFeed, createSource(texts));
    await using _follow = await start();
    await expect.poll(() => errors).toHaveLength(1);
    served.entriesAdded();
    clock.advance(1000);
    await expect.poll(() => errors).toHaveLength(2);
    fault.with = undefined;
    expect(await bodies()).toEqual([]);
    clock.advance(2000);
    await expect.poll(bodies).toEqual(texts);
  });

  it('skips an entry that the database rejects and stores the others', async () => {
    const { start, feeds, bodies, database, errors, positions } = await openInbox();
    // Constraint that no validation covers.
    await database.kysely.schema.createIndex('items_body').on('items').column('body').unique().execute();
    const texts = ['a', 'b', 'a', 'c'];
    using _served = feeds.serve(pushInboxFeed, createSource(texts));
    await using _follow = await start();
    await expect.poll(bodies).toEqual(['a', 'b', 'c']);
    await expect.poll(() => positions.read(pushInboxFeed.name)).toBe(4);
    expect(errors).toEqual([expect.objectContaining({ key: 'push:2' })]);
  });

  it('shares the feed with another host on the same tables', async () => {
    const location = newLocation();
    const firstHost = await openInbox(location);
    const secondHost = await openInbox(location);
    const texts = numbered(0, 700);
    using _first = firstHost.feeds.serve(pushInboxFeed, createSource(texts));
    using _second = secondHost.feeds.serve(pushInboxFeed, createSource(texts));
    await using _follow = await firstHost.start();
    await using _another = await secondHost.start();
    await expect.poll(() => firstHost.positions.read(pushInboxFeed.name)).toBe(700);
    expect(await firstHost.items.count({})).toBe(700);
    await expect.poll(() => [...firstHost.added, ...secondHost.added].toSorted()).toEqual(texts.toSorted());
  });
});
