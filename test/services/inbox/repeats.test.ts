import { expect, it } from 'vitest';
import { InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { changeItems, undoChange } from '../../../services/inbox/store/changes.ts';
import { ItemStore } from '../../../services/inbox/store/items.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { findEarlierRepeats } from '../../../services/inbox/store/repeats.ts';
import { eachDialect } from '../../support/database.ts';
import { collectPlans } from '../../support/query-plans.ts';

const hourMs = 3_600_000;
const startTime = 1_795_000_000_000;

eachDialect((name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new ItemStore(database.kysely);
    let key = 0;
    /** Adds messages at hours since the start and returns them. */
    const add = async (...messages: readonly (readonly [string, number, Partial<InboxOffer>?])[]) => {
      const offers = messages.map(([title, startHour, more = {}]) => ({
        key: String((key += 1)),
        offer: InboxOffer.parse({
          title,
          body: `of ${title}`,
          source: 'uptime',
          time: startTime + startHour * hourMs,
          ...more,
        }),
      }));
      return [...(await database.commit((transaction) => store.add(transaction, offers, startTime))).values()];
    };
    const newest = async (done = false) =>
      (await store.list({ newest: true, done }, undefined, 50)).map(
        ({ title, repeats }) =>
          `${title} ${repeats === undefined ? 'once' : `${String(repeats.times)} since ${String((repeats.since - startTime) / hourMs)}`}`,
      );
    const findIds = async (title: string) =>
      (await store.list({}, undefined, 50)).filter((item) => item.title === title).map(({ id }) => id);
    return { database, store, add, newest, findIds };
  };

  it('assigns runs to many new rows without scanning all open rows', async () => {
    const { database, add, store } = await openStore();
    await add(...Array.from({ length: 5000 }, (_, number) => [`row ${String(number)}`, number / 5000] as const));
    const offers = Array.from({ length: 32 }, (_, number) => ({
      key: `new ${String(number)}`,
      offer: InboxOffer.parse({ title: `new ${String(number)}`, body: '', source: 'uptime', time: startTime + hourMs }),
    }));
    const plans = await collectPlans(name, database.kysely, (db) => store.add(db, offers, startTime));
    expect(plans).toContain('items_repeats');
    expect(plans).not.toMatch(/items_latest|SCAN items|Seq Scan on items/);
  });

  it('lists only the newest repeat with count and start, and the earlier ones on request', async () => {
    const { add, newest, store, findIds } = await openStore();
    const [first] = await add(['down', 0]);
    const [, secondDown, third] = await add(['other', 1], ['down', 1], ['down', 2]);
    expect([first?.repeated, secondDown?.repeated, third?.repeated]).toEqual([undefined, first?.id, secondDown?.id]);
    expect(await newest()).toEqual(['down 3 since 0', 'other once']);
    expect(await store.count({ newest: true })).toBe(2);
    const run = await store.findRun(third?.id ?? 0);
    const earlier = await store.list({ repeatsOf: run }, undefined, 50);
    expect(earlier.map(({ id }) => id)).toEqual([secondDown?.id, first?.id]);
    // Without the filter, each repeat is a row, as other clients expect.
    expect(await findIds('down')).toHaveLength(3);
    expect((await store.list({}, undefined, 50)).every(({ repeats }) => repeats === undefined)).toBe(true);
  });

  it('starts a new run after six hours without a repeat, after a day, and when the run was done', async () => {
    const { add, newest, database, findIds } = await openStore();
    await add(['pause', 0]);
    await add(['pause', 7]);
    for (let startHour = 0; startHour <= 25; startHour += 5) await add(['long', startHour]);
    await add(['done', 1]);
    const doneIds = await findIds('done');
    await database.commit((transaction) => changeItems(transaction, doneIds, { done: true, read: true }));
    await add(['done', 2]);
    expect(await newest()).toEqual(['done once', 'long once', 'long 5 since 0', 'pause once', 'pause once']);
    expect(await newest(true)).toEqual(['done once']);
  });

  it('separates messages of other origin, higher priority, other tags or without title', async () => {
    const { add, newest } = await openStore();
    await add(['down', 0], ['down', 0, { priority: 5 }], ['down', 0, { tags: ['nas'] }], ['down', 0, { topic: 'x' }]);
    await add(['', 1, { body: 'one' }], ['', 1, { body: 'two' }], ['', 1, { body: 'one' }]);
    expect(await newest()).toHaveLength(6);
    expect((await newest())[0]).toBe(' 2 since 1');
  });

  it('keeps the remaining rows when some of a run are deleted, done or expired', async () => {
    const { add, newest, database, store, findIds } = await openStore();
    await add(['down', 0], ['down', 1], ['down', 2], ['down', 3]);
    const [fourth = 0, third = 0, second = 0] = await findIds('down');
    await database.commit((transaction) => store.remove(transaction, [fourth]));
    expect(await newest()).toEqual(['down 3 since 0']);
    await database.commit((transaction) => changeItems(transaction, [third], { done: true }));
    expect([await newest(), await newest(true)]).toEqual([['down 2 since 0'], ['down once']]);
    expect(await findEarlierRepeats(database.kysely, [second])).toHaveLength(1);
    await database.commit((transaction) => store.removeOld(transaction, startTime + hourMs / 2, 50));
    expect(await newest()).toEqual(['down once']);
  });

  it('changes earlier repeats only together with the newest row of the run', async () => {
    const { add, database, findIds } = await openStore();
    await add(['down', 0], ['down', 1], ['down', 2], ['down', 3], ['up', 3]);
    const [newest = 0, third = 0, second = 0, first = 0] = await findIds('down');
    const earlier = async (...ids: readonly number[]) =>
      (await findEarlierRepeats(database.kysely, ids)).sort((a, b) => a - b);
    expect(await earlier(newest)).toEqual([first, second, third]);
    expect(await earlier(third)).toEqual([]);
    expect(await earlier(second, first, ...(await findIds('up')))).toEqual([]);
  });

  it('undoes a change per row and keeps rows that were changed since', async () => {
    const { add, newest, database, store, findIds } = await openStore();
    await add(['down', 0], ['down', 1], ['mail', 1], ['seen', 1]);
    const [seenId = 0] = await findIds('seen');
    const change = (ids: readonly number[], number: number, read: boolean, done?: boolean) =>
      database.commit((transaction) => changeItems(transaction, ids, { read, done }, { number }));
    await change([seenId], 1, true);
    const all = (await store.list({}, undefined, 50)).map(({ id }) => id);
    await change(all, 2, true, true);
    expect(await newest()).toEqual([]);
    const [mail = 0] = await findIds('mail');
    await change([mail], 3, false);
    const back = await database.commit((transaction) => undoChange(transaction, 2, { scope: undefined, limit: 50 }));
    expect(back.map(({ id }) => id).sort()).toEqual(all.filter((id) => id !== mail).sort());
    expect(await newest()).toEqual(['seen once', 'down 2 since 0']);
    expect(await newest(true)).toEqual(['mail once']);
    expect((await store.list({ unread: true, done: false }, undefined, 50)).map(({ title }) => title)).toEqual([
      'down',
      'down',
    ]);
    expect(await database.commit((transaction) => undoChange(transaction, 2, { scope: undefined, limit: 50 }))).toEqual(
      [],
    );
  });
});
