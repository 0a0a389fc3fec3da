import { expect, it } from 'vitest';
import { InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { bound, searchWords } from '../../../services/inbox/domain.ts';
import { ItemStore, type Wanted } from '../../../services/inbox/store/items.ts';
import { migrations } from '../../../services/inbox/store/migrations.ts';
import { eachDialect } from '../../support/database.ts';

eachDialect((_name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new ItemStore(database.kysely);
    const add = async (key: string, offer: Partial<InboxOffer> = {}) => {
      const whole = InboxOffer.parse({ body: key, source: 'test', time: 1000, ...offer });
      const offers = [{ key, offer: bound(whole) }];
      return (await database.commit((transaction) => store.add(transaction, offers, 1000))).get(key);
    };
    const find = async (wanted: Partial<Wanted>) =>
      (await store.list({ words: [], ...wanted }, undefined, 50)).map((item) => item.body);
    return { database, store, add, find };
  };

  it('keeps an offer as it is and ignores its key from then on, even when the row is removed', async () => {
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
    expect(await store.list({ words: [] }, undefined, 50)).toEqual([item]);
    await database.commit((transaction) => store.remove(transaction, [item?.id ?? 0]));
    expect(await add('k')).toBeUndefined();
    expect(await store.count({ words: [] })).toBe(0);
  });

  it('takes offers that came together in their order, each key once, the first one of a key', async () => {
    const { database, store, add } = await openStore();
    await add('known');
    const offers = ['b', 'known', 'a', 'b', 'c'].map((key, index) => ({
      key,
      offer: bound(InboxOffer.parse({ body: `${key} ${index}`, source: 'test', time: 1000 })),
    }));
    const added = await database.commit((transaction) => store.add(transaction, offers, 1000));
    expect([...added].map(([key, { body }]) => [key, body])).toEqual([
      ['b', 'b 0'],
      ['a', 'a 2'],
      ['c', 'c 4'],
    ]);
    const listed = await store.list({ words: [] }, undefined, 50);
    expect(listed.map(({ body }) => body)).toEqual(['c 4', 'a 2', 'b 0', 'known']);
    expect(listed.slice(0, 3).toReversed()).toEqual([...added.values()]);
  });

  it('stores what no database would take as it is', async () => {
    const { add, find } = await openStore();
    await add('nul', { body: 'a\0b\ud800' });
    await add('long', { title: 't'.repeat(3000), body: 'ü'.repeat(1_000_001), link: `https://${'x'.repeat(9000)}` });
    const [long, nul] = await find({});
    expect(nul).toBe('a\ufffdb\ufffd');
    expect(long).toBe(`${'ü'.repeat(1_000_000)}… (1 characters more)`);
  });

  it('finds rows by all words, in any case, taking wildcards literally', async () => {
    const { add, find } = await openStore();
    await add('1', { title: 'Backup FINISHED', body: 'Größe 100% done_now' });
    await add('2', { title: 'Backup failed', body: 'size 100 done-now \\o/' });
    const search = async (query: string) => (await find({ words: searchWords(query) })).length;
    expect(await search('backup')).toBe(2);
    expect(await search('finished backup')).toBe(1);
    expect(await search('GRÖSSE')).toBe(0);
    expect(await search('GRÖßE')).toBe(1);
    expect(await search('100%')).toBe(1);
    expect(await search('done_now')).toBe(1);
    expect(await search('\\o')).toBe(1);
    expect(await search('100 missing')).toBe(0);
    expect(await search('   ')).toBe(2);
    expect(await search("'; drop table items; --")).toBe(0);
  });

  it('filters by source, tag, priority, unread and done', async () => {
    const { add, database, find, store } = await openStore();
    const first = await add('1', { source: 'mail', tags: ['a'], priority: 5 });
    const second = await add('2', { tags: ['ab', 'c%'] });
    await add('3', { tags: ['b"a'] });
    expect(await find({ source: 'mail' })).toEqual(['1']);
    expect(await find({ tag: 'a' })).toEqual(['1']);
    expect(await find({ tag: 'A' })).toEqual([]);
    expect(await find({ tag: 'c%' })).toEqual(['2']);
    expect(await find({ tag: 'c_' })).toEqual([]);
    expect(await find({ tag: 'b"a' })).toEqual(['3']);
    expect(await find({ minPriority: 4 })).toEqual(['1']);
    expect(await store.sources()).toEqual(['mail', 'test']);
    const change = async (ids: 'all' | number[], set: { read?: boolean; done?: boolean }) =>
      (await database.commit((transaction) => store.change(transaction, ids, set))).map(({ id }) => id);
    expect(await change([first?.id ?? 0], { read: true })).toEqual([first?.id]);
    expect(await change([second?.id ?? 0], { done: true })).toEqual([second?.id]);
    expect(await find({ unread: true, done: false })).toEqual(['3']);
    expect(await store.unread()).toBe(1);
    expect(await find({ done: true })).toEqual(['2']);
    // Only what was not so before counts as changed.
    expect(await change('all', { read: true })).toHaveLength(2);
    expect(await change('all', {})).toEqual([]);
    expect(await change([999_999], { read: false })).toEqual([]);
  });

  it('pages by id and removes what is old in batches', async () => {
    const { add, database, store } = await openStore();
    for (let index = 0; index < 7; index += 1) await add(String(index), { time: index });
    const first = await store.list({ words: [] }, undefined, 3);
    const second = await store.list({ words: [] }, first.at(-1)?.id, 3);
    expect([...first, ...second].map((item) => item.body)).toEqual(['6', '5', '4', '3', '2', '1']);
    expect(await database.commit((transaction) => store.removeOld(transaction, 5, 3))).toHaveLength(3);
    expect(await database.commit((transaction) => store.removeOld(transaction, 5, 3))).toHaveLength(2);
    expect(await store.count({ words: [] })).toBe(2);
    expect(await database.commit((transaction) => store.forgetOffers(transaction, 2000, 100))).toBe(7);
  });
});
