import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { DelayedMessageStore, type DelayedPosition } from '../../../../services/push/store/delayed-messages.ts';
import { eachDialect } from '../../../support/database.ts';
import { collectPlans } from '../../../support/query-plans.ts';

eachDialect((dialect, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    const store = new DelayedMessageStore(database.kysely);
    return { database, store };
  };
  const row = (id: string, time: number, account: string | null) => ({
    id,
    topic: 't',
    sequence: id,
    time,
    expires: time + 10,
    text: '{}',
    entry: null,
    after: 0,
    account,
  });

  it('lists by time and paginates, for all accounts and for one', async () => {
    const { database, store } = await openStore();
    const rows = [row('c', 30, 'ada'), row('a', 10, null), row('b', 20, 'ada'), row('d', 30, 'ada')];
    await database.commit((transaction) => store.insert(transaction, rows));
    const ids = async (account: string | undefined, after: DelayedPosition, limit = 9): Promise<string> =>
      (await store.list(account, after, limit)).map(({ id }) => id).join('');
    expect(await ids(undefined, { time: 0, seq: 0 })).toBe('abcd');
    expect(await ids('ada', { time: 0, seq: 0 })).toBe('bcd');
    const [, third] = await store.list(undefined, { time: 0, seq: 0 }, 9);
    expect(await ids(undefined, { time: 30, seq: third?.seq ?? 0 })).toBe('d');
    expect([await store.count(), await store.count('ada')]).toEqual([4, 3]);
  });

  it('returns a message to one caller, and reschedules none that is published', async () => {
    const { database, store } = await openStore();
    await database.commit((transaction) => store.insert(transaction, [row('a', 10, 'ada')]));
    const results = await Promise.all([1, 2].map(() => database.commit((transaction) => store.take(transaction, 'a'))));
    expect(results.filter((row) => row !== undefined)).toHaveLength(1);
    const to = { time: 20, expires: 30, text: '{}', entry: null };
    expect(await database.commit((transaction) => store.reschedule(transaction, 'a', to))).toBe(false);
  });

  it('uses an index with 100,000 messages', async () => {
    const { database, store } = await openStore();
    await database.commit(async (transaction) => {
      for (let offset = 0; offset < 100_000; offset += 2000) {
        const many = Array.from({ length: 2000 }, (_, index) =>
          row(`m${String(offset + index)}`, 1000 + ((offset + index) % 5000), `a${String(index % 50)}`),
        );
        await store.insert(transaction, many.slice(0, 1000));
        await store.insert(transaction, many.slice(1000));
      }
    });
    const plans = await collectPlans(dialect, database.kysely, async (db) => {
      const explainedStore = new DelayedMessageStore(db);
      await explainedStore.nextTime();
      await explainedStore.list(undefined, { time: 3000, seq: 7 }, 200);
      await explainedStore.list('a7', { time: 3000, seq: 7 }, 200);
      await explainedStore.find('m77');
      await explainedStore.findAcceptedAfter('m77');
    });
    expect(plans).not.toMatch(/SCAN scheduled(?! USING)|Seq Scan|TEMP B-TREE|Sort/);
    const { rows } = await sql`select count(*) as n from scheduled`.execute(database.kysely);
    expect(rows).toEqual([{ n: 100_000 }]);
  });
});
