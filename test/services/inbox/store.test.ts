import * as messages from '#messages/inbox-texts';
import { expect, it } from 'vitest';
import { InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { normalizeOffer } from '../../../services/inbox/item-text.ts';
import { findChangeable, changeItems } from '../../../services/inbox/store/changes.ts';
import { ItemStore } from '../../../services/inbox/store/items.ts';
import type { ItemFilter } from '../../../services/inbox/store/item-filter.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { eachDialect } from '../../support/database.ts';

eachDialect((_name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new ItemStore(database.kysely);
    const add = async (key: string, offer: Partial<InboxOffer> = {}) => {
      const offerRow = InboxOffer.parse({ body: key, source: 'test', time: 1000, ...offer });
      const offers = [{ key, offer: normalizeOffer(offerRow) }];
      return (await database.commit((transaction) => store.add(transaction, offers, 1000))).get(key);
    };
    const find = async (filter: Partial<ItemFilter>) =>
      (await store.list(filter, undefined, 50)).map((item) => item.body);
    const index = async () => {
      while (await database.commit((transaction) => store.itemWords.addNew(transaction)));
    };
    return { database, store, add, find, index };
  };

  it('stores an offer unchanged and ignores its key afterwards, even when the row is deleted', async () => {
    const { add, database, store } = await openStore();
    const offer = {
      title: 'T',
      body: '<b>x</b>\n',
      format: 'html',
      priority: 5,
      tags: ['a', 'b"c'],
      topic: 'web-info',
      link: 'https://l.example/',
      time: 1_795_228_244_000,
    } as const;
    const item = await add('k', { ...offer, tags: [...offer.tags] });
    expect(item).toEqual({ ...offer, id: expect.any(Number), source: 'test', read: false, done: false });
    expect(await add('k', { body: 'another' })).toBeUndefined();
    expect(await store.list({}, undefined, 50)).toEqual([item]);
    await database.commit((transaction) => store.remove(transaction, [item?.id ?? 0]));
    expect(await add('k')).toBeUndefined();
    expect(await store.count({})).toBe(0);
  });

  it('stores concurrent offers in order, the first of each key', async () => {
    const { database, store, add } = await openStore();
    await add('known');
    const offers = ['b', 'known', 'a', 'b', 'c'].map((key, index) => ({
      key,
      offer: normalizeOffer(InboxOffer.parse({ body: `${key} ${index}`, source: 'test', time: 1000 })),
    }));
    const added = await database.commit((transaction) => store.add(transaction, offers, 1000));
    expect([...added].map(([key, { body }]) => [key, body])).toEqual([
      ['b', 'b 0'],
      ['a', 'a 2'],
      ['c', 'c 4'],
    ]);
    const listed = await store.list({}, undefined, 50);
    expect(listed.map(({ body }) => body)).toEqual(['c 4', 'a 2', 'b 0', 'known']);
    expect(listed.slice(0, 3).toReversed()).toEqual([...added.values()]);
  });

  it('stores text that databases would refuse', async () => {
    const { add, find } = await openStore();
    await add('nul', { body: 'a\0b\ud800' });
    await add('long', { title: 't'.repeat(3000), body: 'ü'.repeat(1_000_001), link: `https://${'x'.repeat(9000)}` });
    const [long, nul] = await find({});
    expect(nul).toBe('a\ufffdb\ufffd');
    expect(long).toBe('ü'.repeat(1_000_000) + messages.truncated({ count: 1 }));
  });

  it('finds rows by all words, ignoring case and diacritics, the last one by prefix', async () => {
    const { add, find, index } = await openStore();
    await add('1', { title: 'Backup FINISHED', body: 'Größe 100% done_now' });
    await add('2', { title: 'Backup failed', body: 'size 100 done-now \\o/' });
    await index();
    // Punctuation separates words and is not searched, as in push.
    const counts = new Map([
      ['backup', 2],
      ['finished backup', 1],
      ['GRÖSSE', 1],
      ['backup fin', 1],
      ['back finished', 0],
      ['"100 done"', 2],
      ['"done 100"', 0],
      ['GRÖßE', 1],
      ['100%', 2],
      ['done_now', 2],
      ['%', 0],
      ['\\o', 1],
      ['100 missing', 0],
      ['   ', 2],
      ["'; drop table items; --", 0],
    ]);
    for (const [q, count] of counts) expect([q, (await find({ q })).length]).toEqual([q, count]);
  });

  it('filters by source, tag and priority', async () => {
    const { add, find, store } = await openStore();
    await add('1', { source: 'mail', tags: ['a'], priority: 5 });
    await add('2', { tags: ['ab', 'c%'] });
    await add('3', { tags: ['b"a'] });
    expect(await find({ source: 'mail' })).toEqual(['1']);
    expect(await find({ tag: 'a' })).toEqual(['1']);
    expect(await find({ tag: 'A' })).toEqual([]);
    expect(await find({ tag: 'c%' })).toEqual(['2']);
    expect(await find({ tag: 'c_' })).toEqual([]);
    expect(await find({ tag: 'b"a' })).toEqual(['3']);
    expect(await find({ minPriority: 4 })).toEqual(['1']);
    expect(await store.sources()).toEqual(['mail', 'test']);
  });

  it('filters by unread and done, and reports only rows whose state changed', async () => {
    const { add, database, find, store } = await openStore();
    const first = await add('1');
    const second = await add('2');
    await add('3');
    const change = async (ids: 'all' | number[], set: { read?: boolean; done?: boolean }) =>
      (
        await database.commit(async (transaction) =>
          changeItems(
            transaction,
            ids === 'all'
              ? await findChangeable(transaction, set, { scope: undefined, upTo: 1_000_000, limit: 100 })
              : ids,
            set,
          ),
        )
      ).map(({ id }) => id);
    expect(await change([first?.id ?? 0], { read: true })).toEqual([first?.id]);
    expect(await change([second?.id ?? 0], { done: true })).toEqual([second?.id]);
    expect(await find({ unread: true, done: false })).toEqual(['3']);
    expect(await store.countUnread()).toBe(1);
    expect(await find({ done: true })).toEqual(['2']);
    // Only rows with a different state count as changed.
    expect(await change('all', { read: true })).toHaveLength(2);
    expect(await change('all', {})).toEqual([]);
    expect(await change([999_999], { read: false })).toEqual([]);
  });

  it('paginates by id and deletes old rows in batches', async () => {
    const { add, database, store } = await openStore();
    for (let index = 0; index < 7; index += 1) await add(String(index), { time: index });
    const first = await store.list({}, undefined, 3);
    const second = await store.list({}, first.at(-1)?.id, 3);
    expect([...first, ...second].map((item) => item.body)).toEqual(['6', '5', '4', '3', '2', '1']);
    expect(await database.commit((transaction) => store.removeOld(transaction, 5, 3))).toHaveLength(3);
    expect(await database.commit((transaction) => store.removeOld(transaction, 5, 3))).toHaveLength(2);
    expect(await store.count({})).toBe(2);
    expect(await database.commit((transaction) => store.removeOffers(transaction, 2000, 100))).toBe(7);
  });

  it('does not find deleted rows, and counts the results', async () => {
    const { add, database, find, index, store } = await openStore();
    const first = await add('1', { body: 'needle one', source: 'mail' });
    await add('2', { body: 'needle two' });
    expect(await store.itemWords.hasNew(database.kysely)).toBe(true);
    await index();
    expect(await store.itemWords.hasNew(database.kysely)).toBe(false);
    expect(await find({ q: 'needle' })).toEqual(['needle two', 'needle one']);
    expect(await find({ q: 'needle', source: 'mail' })).toEqual(['needle one']);
    expect([await store.count({ q: 'needle' }), await store.count({ q: 'needle', source: 'mail' })]).toEqual([2, 1]);
    await database.commit((transaction) => store.remove(transaction, [first?.id ?? 0]));
    expect(await find({ q: 'needle' })).toEqual(['needle two']);
    await add('3', { body: 'needle three' });
    await index();
    expect(await find({ q: 'needle' })).toEqual(['needle three', 'needle two']);
  });

  it('indexes rows of older versions in batches and finds all of them meanwhile', async () => {
    const database = await open();
    await database.migrate(migrations.filter(({ name }) => name < '005'));
    const old = Array.from({ length: 450 }, (_, index) => ({
      title: `Old ${String(index)}`,
      body: 'hay',
      format: 'text',
      priority: 3,
      tags: '[]',
      source: 's',
      topic: '',
      link: null,
      time: 1000,
      read: 0,
      done: 0,
      search: `old ${String(index)}\nhay`,
    }));
    await database.commit((transaction) => transaction.insertInto('items').values(old).execute());
    await database.migrate(migrations);
    const store = new ItemStore(database.kysely);
    const offers = [
      { key: 'new', offer: normalizeOffer(InboxOffer.parse({ body: 'new hay', source: 's', time: 1000 })) },
    ];
    await database.commit((transaction) => store.add(transaction, offers, 1000));
    const see = async () => {
      const bodies: string[] = [];
      for (let before: number | undefined; ;) {
        const page = await store.list({ q: 'hay' }, before, 100);
        bodies.push(...page.map(({ id }) => String(id)));
        if (page.length < 100) return { found: bodies, count: await store.count({ q: 'hay' }) };
        before = page.at(-1)?.id;
      }
    };
    await database.commit((transaction) => store.itemWords.addNew(transaction));
    const expected = { found: Array.from({ length: 451 }, (_, index) => String(451 - index)), count: 451 };
    expect(await see()).toEqual(expected);
    let turns = 0;
    while (await database.commit((transaction) => store.itemWords.addOld(transaction))) {
      turns += 1;
      expect(await see()).toEqual(expected);
    }
    expect([turns, await store.itemWords.backlog(database.kysely)]).toEqual([3, undefined]);
    expect(await see()).toEqual(expected);
    expect((await store.list({ q: 'old 7' }, undefined, 500)).map(({ title }) => title)).toContain('Old 7');
    const unindexed = await database.kysely.selectFrom('items').select('id').where('search', '!=', '').execute();
    expect(unindexed).toEqual([]);
  });
});
