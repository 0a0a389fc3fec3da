import { expect, it } from 'vitest';
import { eachDialect } from '../../../support/database.ts';
import { readHistory } from '../../../../services/push/subscribe/history.ts';
import type { Since } from '../../../../services/push/domain/since.ts';
import { MessageStore } from '../../../../services/push/store/messages.ts';
import { DelayedMessageStore } from '../../../../services/push/store/delayed-messages.ts';
import { migrations } from '../../../../services/push/store/migrations.ts';

eachDialect((_name, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new MessageStore(database.kysely);
    const add = (messages: readonly { id: string; topic?: string; time?: number; expires?: number }[]) =>
      database.commit((transaction) =>
        store.insert(
          transaction,
          messages.map(({ id, topic = 't', time = 100, expires = 1000 }) => ({ id, topic, time, expires, text: id })),
        ),
      );
    const history = async (topics: readonly string[], since: Since, upTo?: number, now = 500): Promise<string[]> => {
      const texts: string[] = [];
      for await (const page of readHistory(store, new DelayedMessageStore(database.kysely), {
        topics,
        since,
        scheduled: false,
        upTo: upTo ?? (await store.top()),
        now,
      })) {
        texts.push(...page.map((row) => row.text));
      }
      return texts;
    };
    return { database, store, add, history };
  };

  it('assigns increasing numbers in insertion order', async () => {
    const { add, store } = await openStore();
    const first = await add([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    const second = await add([{ id: 'd' }]);
    const seqs = [...['a', 'b', 'c'].map((id) => first.get(id) ?? 0), second.get('d') ?? 0];
    expect(seqs).toEqual(seqs.toSorted((x, y) => x - y));
    expect(await store.top()).toBe(seqs.at(-1));
    expect(await store.findSeq('b')).toBe(seqs[1]);
    expect(await store.findSeq('nobody')).toBeUndefined();
  });

  it('reads by time, then by insertion, over several topics and pages', async () => {
    const { add, history } = await openStore();
    await add([
      { id: 'late', time: 300 },
      { id: 'early', topic: 'u', time: 50 },
      { id: 'foreign', topic: 'v' },
    ]);
    const many = Array.from({ length: 1200 }, (_, index) => ({ id: `m${index}`, topic: index % 2 ? 't' : 'u' }));
    await add(many);
    expect(await history(['t', 'u'], { from: 'all' })).toEqual(['early', ...many.map(({ id }) => id), 'late']);
  });

  it('starts after an id, at a time, with the newest of each topic, or with everything for an unknown id', async () => {
    const { add, history } = await openStore();
    await add([
      { id: 'a', time: 10 },
      { id: 'b', topic: 'u', time: 20 },
      { id: 'c', time: 30 },
      { id: 'd', topic: 'u', time: 40 },
    ]);
    expect(await history(['t', 'u'], { from: 'id', id: 'b' })).toEqual(['c', 'd']);
    expect(await history(['t', 'u'], { from: 'id', id: 'gone' })).toEqual(['a', 'b', 'c', 'd']);
    expect(await history(['t', 'u'], { from: 'time', time: 20 })).toEqual(['b', 'c', 'd']);
    expect(await history(['u', 't'], { from: 'latest' })).toEqual(['c', 'd']);
    expect(await history(['t', 'u'], { from: 'none' })).toEqual([]);
  });

  it('excludes later and expired messages', async () => {
    const { add, history, store } = await openStore();
    await add([{ id: 'old', expires: 400 }, { id: 'a' }]);
    const upTo = await store.top();
    await add([{ id: 'b' }]);
    expect(await history(['t'], { from: 'all' }, upTo)).toEqual(['a']);
    expect(await history(['t'], { from: 'latest' }, upTo)).toEqual(['a']);
  });

  it('deletes expired messages in batches and never reuses numbers', async () => {
    const { add, database, store } = await openStore();
    const seqs = await add([
      { id: 'a', expires: 1 },
      { id: 'b', expires: 1 },
      { id: 'c', expires: 1 },
    ]);
    expect(await database.commit((transaction) => store.removeExpired(transaction, 500, 2, 0))).toHaveLength(2);
    expect(await database.commit((transaction) => store.removeExpired(transaction, 500, 2, 0))).toHaveLength(1);
    expect(await store.count()).toBe(0);
    const added = await add([{ id: 'd' }]);
    expect(added.get('d')).toBeGreaterThan(seqs.get('c') ?? 0);
  });

  it('claims each key once, also within one statement, and deletes old ones', async () => {
    const { database, store } = await openStore();
    const claimKeys = (keys: readonly string[], time: number) =>
      database.commit((transaction) => store.claimKeys(transaction, keys, time));
    expect([...(await claimKeys(['a', 'b', 'a'], 100))].sort()).toEqual(['a', 'b']);
    expect([...(await claimKeys(['b', 'c'], 200))]).toEqual(['c']);
    expect(await database.commit((transaction) => store.removeOffers(transaction, 150, 10))).toBe(2);
    expect([...(await claimKeys(['a', 'c'], 300))]).toEqual(['a']);
  });

  it('counts all messages, including those not saved before a crash', async () => {
    const { add, database, store } = await openStore();
    expect(await store.total()).toBe(0);
    await add([{ id: 'a' }, { id: 'b' }]);
    expect(await store.total()).toBe(2);
    const top = await store.top();
    await database.commit((transaction) => store.saveTotal(transaction, 10, top));
    await add([{ id: 'c' }]);
    expect(await store.total()).toBe(11);
    await database.commit((transaction) => store.removeExpired(transaction, 5000, 100, 0));
    expect(await store.total()).toBe(10);
  });
});
