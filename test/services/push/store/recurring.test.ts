import { expect, it } from 'vitest';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { RecurringStore } from '../../../../services/push/store/recurring.ts';
import { eachDialect } from '../../../support/database.ts';
import { collectPlans } from '../../../support/query-plans.ts';

eachDialect((dialect, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    return { database, store: new RecurringStore(database.kysely) };
  };
  const row = (id: string, next: number | null, account = 'ada') => ({
    id,
    account,
    topic: 't',
    content: '{"message":"m"}',
    rule: '@daily',
    zone: 'UTC',
    starts: null,
    ends: null,
    missed: 'once',
    enabled: next === null ? 0 : 1,
    next,
    last: null,
    error: '',
  });

  it('returns due schedules, oldest first, and those with a future last run', async () => {
    const { database, store } = await openStore();
    await database.commit(async (transaction) => {
      for (const entry of [row('b', 20), row('a', 10), row('off', null), row('c', 30)]) {
        await store.insert(transaction, entry);
      }
      await store.change(transaction, 'c', { last: 99 });
    });
    expect((await store.due(20, 9)).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await store.withFutureRun(50, 9)).map(({ id }) => id)).toEqual(['c']);
    expect(await store.nextTime()).toBe(10);
    await database.commit((transaction) => store.removeAccount(transaction, 'ada'));
    expect([await store.nextTime(), await store.count()]).toEqual([undefined, 0]);
  });

  it('advances a run for one host, and none of a disabled schedule', async () => {
    const { database, store } = await openStore();
    await database.commit((transaction) => store.insert(transaction, row('a', 10)));
    const step = { id: 'a', from: 10, next: 20, last: 10, error: '' };
    const moved = await Promise.all(
      [1, 2, 3].map(() => database.commit((transaction) => store.advance(transaction, [step]))),
    );
    expect(moved.map((ids) => ids.size).toSorted()).toEqual([0, 0, 1]);
    await database.commit((transaction) => store.change(transaction, 'a', { enabled: 0, next: null }));
    const late = await database.commit((transaction) => store.advance(transaction, [{ ...step, from: 20 }]));
    expect(late.size).toBe(0);
  });

  it('uses an index with 10,000 schedules', async () => {
    const { database, store } = await openStore();
    await database.commit(async (transaction) => {
      for (let index = 0; index < 10_000; index += 1) {
        await store.insert(transaction, row(`s${String(index)}`, 1000 + index, `a${String(index % 50)}`));
      }
    });
    const plans = await collectPlans(dialect, database.kysely, async (db) => {
      const explainedStore = new RecurringStore(db);
      await explainedStore.nextTime();
      await explainedStore.due(1100, 200);
      await explainedStore.withFutureRun(1100, 200);
      await explainedStore.find('s77');
      await explainedStore.list(undefined, 500, 200);
      await explainedStore.list('a7', 5000, 200);
    });
    expect(plans).not.toMatch(/SCAN recurring|Seq Scan|TEMP B-TREE/);
  });
});
