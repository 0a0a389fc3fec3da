import { expect, it } from 'vitest';
import { InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { changeItems, takeBack } from '../../../services/inbox/store/changes.ts';
import { ItemStore } from '../../../services/inbox/store/items.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { earlierOf } from '../../../services/inbox/store/repeats.ts';
import { eachDialect } from '../../support/database.ts';
import { plansOf } from '../../support/plans.ts';

const hour = 3_600_000;
const start = 1_795_000_000_000;

eachDialect((name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new ItemStore(database.kysely);
    let key = 0;
    /** Messages that came together, in hours since the start; answers them. */
    const add = async (...messages: readonly (readonly [string, number, Partial<InboxOffer>?])[]) => {
      const offers = messages.map(([title, at, more = {}]) => ({
        key: String((key += 1)),
        offer: InboxOffer.parse({ title, body: `of ${title}`, source: 'uptime', time: start + at * hour, ...more }),
      }));
      return [...(await database.commit((transaction) => store.add(transaction, offers, start))).values()];
    };
    const newest = async (done = false) =>
      (await store.list({ newest: true, done }, undefined, 50)).map(
        ({ title, repeats }) =>
          `${title} ${repeats === undefined ? 'once' : `${String(repeats.times)} since ${String((repeats.since - start) / hour)}`}`,
      );
    const idsOf = async (title: string) =>
      (await store.list({}, undefined, 50)).filter((item) => item.title === title).map(({ id }) => id);
    return { database, store, add, newest, idsOf };
  };

  it('places many new rows without walking through all that are open', async () => {
    const { database, add, store } = await openStore();
    await add(...Array.from({ length: 5000 }, (_, number) => [`row ${String(number)}`, number / 5000] as const));
    const offers = Array.from({ length: 32 }, (_, number) => ({
      key: `new ${String(number)}`,
      offer: InboxOffer.parse({ title: `new ${String(number)}`, body: '', source: 'uptime', time: start + hour }),
    }));
    const plans = await plansOf(name, database.kysely, (db) => store.add(db, offers, start));
    expect(plans).toContain('items_repeats');
    expect(plans).not.toMatch(/items_latest|SCAN items|Seq Scan on items/);
  });

  it('shows the newest of repeats alone, with how often it came and since when, and the earlier ones behind it', async () => {
    const { add, newest, store, idsOf } = await openStore();
    const [first] = await add(['down', 0]);
    const [, again, third] = await add(['other', 1], ['down', 1], ['down', 2]);
    expect([first?.repeated, again?.repeated, third?.repeated]).toEqual([undefined, first?.id, again?.id]);
    expect(await newest()).toEqual(['down 3 since 0', 'other once']);
    expect(await store.count({ newest: true })).toBe(2);
    const repeatsOf = await store.runOf(third?.id ?? 0);
    const earlier = await store.list({ repeatsOf }, undefined, 50);
    expect(earlier.map(({ id }) => id)).toEqual([again?.id, first?.id]);
    // Without that each has its row, as every other client knows it.
    expect(await idsOf('down')).toHaveLength(3);
    expect((await store.list({}, undefined, 50)).every(({ repeats }) => repeats === undefined)).toBe(true);
  });

  it('begins anew after six hours without one, after a day, and when it was put away', async () => {
    const { add, newest, database, idsOf } = await openStore();
    await add(['pause', 0]);
    await add(['pause', 7]);
    for (let at = 0; at <= 25; at += 5) await add(['long', at]);
    await add(['done', 1]);
    const put = await idsOf('done');
    await database.commit((transaction) => changeItems(transaction, put, { done: true, read: true }));
    await add(['done', 2]);
    expect(await newest()).toEqual(['done once', 'long once', 'long 5 since 0', 'pause once', 'pause once']);
    expect(await newest(true)).toEqual(['done once']);
  });

  it('tells apart what comes from elsewhere, is more urgent, has other tags or no title', async () => {
    const { add, newest } = await openStore();
    await add(['down', 0], ['down', 0, { priority: 5 }], ['down', 0, { tags: ['nas'] }], ['down', 0, { topic: 'x' }]);
    await add(['', 1, { body: 'one' }], ['', 1, { body: 'two' }], ['', 1, { body: 'one' }]);
    expect(await newest()).toHaveLength(6);
    expect((await newest())[0]).toBe(' 2 since 1');
  });

  it('loses none when some of a run go, are put away one by one, or get old', async () => {
    const { add, newest, database, store, idsOf } = await openStore();
    await add(['down', 0], ['down', 1], ['down', 2], ['down', 3]);
    const [fourth = 0, third = 0, second = 0] = await idsOf('down');
    await database.commit((transaction) => store.remove(transaction, [fourth]));
    expect(await newest()).toEqual(['down 3 since 0']);
    await database.commit((transaction) => changeItems(transaction, [third], { done: true }));
    expect([await newest(), await newest(true)]).toEqual([['down 2 since 0'], ['down once']]);
    expect(await earlierOf(database.kysely, [second])).toHaveLength(1);
    await database.commit((transaction) => store.removeOld(transaction, start + hour / 2, 50));
    expect(await newest()).toEqual(['down once']);
  });

  it('takes what is behind a row with it for the newest of a run alone', async () => {
    const { add, database, idsOf } = await openStore();
    await add(['down', 0], ['down', 1], ['down', 2], ['down', 3], ['up', 3]);
    const [newest = 0, third = 0, second = 0, first = 0] = await idsOf('down');
    const earlier = async (...ids: readonly number[]) => (await earlierOf(database.kysely, ids)).sort((a, b) => a - b);
    expect(await earlier(newest)).toEqual([first, second, third]);
    expect(await earlier(third)).toEqual([]);
    expect(await earlier(second, first, ...(await idsOf('up')))).toEqual([]);
  });

  it('takes a change back, each row as it was, and leaves alone what was changed since', async () => {
    const { add, newest, database, store, idsOf } = await openStore();
    await add(['down', 0], ['down', 1], ['mail', 1], ['seen', 1]);
    const [seen = 0] = await idsOf('seen');
    const change = (ids: readonly number[], number: number, read: boolean, done?: boolean) =>
      database.commit((transaction) => changeItems(transaction, ids, { read, done }, { number }));
    await change([seen], 1, true);
    const all = (await store.list({}, undefined, 50)).map(({ id }) => id);
    await change(all, 2, true, true);
    expect(await newest()).toEqual([]);
    const [mail = 0] = await idsOf('mail');
    await change([mail], 3, false);
    const back = await database.commit((transaction) => takeBack(transaction, 2, { scope: undefined, limit: 50 }));
    expect(back.map(({ id }) => id).sort()).toEqual(all.filter((id) => id !== mail).sort());
    expect(await newest()).toEqual(['seen once', 'down 2 since 0']);
    expect(await newest(true)).toEqual(['mail once']);
    expect((await store.list({ unread: true, done: false }, undefined, 50)).map(({ title }) => title)).toEqual([
      'down',
      'down',
    ]);
    expect(await database.commit((transaction) => takeBack(transaction, 2, { scope: undefined, limit: 50 }))).toEqual(
      [],
    );
  });
});
