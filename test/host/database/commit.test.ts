import { expect, it, vi } from 'vitest';
import { getLanguage } from '../../../messages/language.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { eachDialectOnOwnServer, type Open } from '../../support/database.ts';

async function openWithTable(open: Open) {
  const database = await open();
  await database.kysely.schema
    .createTable('t')
    .addColumn('a', 'integer', (column) => column.primaryKey())
    .execute();
  const stored = async (): Promise<number[]> =>
    (await database.kysely.selectFrom('t').select('a').orderBy('a').execute()).map((row) => Number(row['a']));
  const insert = (a: number) => async (transaction: typeof database.kysely) => {
    await transaction.insertInto('t').values({ a }).execute();
    return a;
  };
  return { database, stored, insert };
}

eachDialectOnOwnServer((name, open, _createLocation, server) => {
  it('runs all waiting callers in one transaction', async () => {
    const { database, stored, insert } = await openWithTable(open);
    const transactions = new Set<unknown>();
    const results = await Promise.all(
      [1, 2, 3, 4, 5].map((a) =>
        database.commit((transaction) => {
          transactions.add(transaction);
          return insert(a)(transaction);
        }),
      ),
    );
    expect(results).toEqual([1, 2, 3, 4, 5]);
    expect(transactions.size).toBe(1);
    expect(await stored()).toEqual([1, 2, 3, 4, 5]);
  });

  it('runs the work of each caller in the language of its request', async () => {
    const { database } = await openWithTable(open);
    const languages = await Promise.all(
      ['en', 'de', 'fr'].map((language) =>
        runInLanguage({ language, locale: language }, () => database.commit(async () => getLanguage())),
      ),
    );
    expect(languages).toEqual(['en', 'de', 'fr']);
  });

  it('limits the size of a group', async () => {
    const { database } = await openWithTable(open);
    const perTransaction = new Map<unknown, number>();
    const note = async (transaction: unknown): Promise<void> =>
      void perTransaction.set(transaction, (perTransaction.get(transaction) ?? 0) + 1);
    await Promise.all(Array.from({ length: 600 }, () => database.commit(note)));
    expect([...perTransaction.values()]).toEqual([256, 256, 88]);
  });

  it('fails only the faulty work', async () => {
    const { database, stored, insert } = await openWithTable(open);
    await database.commit(insert(3));
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((a) => database.commit(insert(a))));
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await stored()).toEqual([1, 2, 3, 4]);
  });

  it('rejects each failing work with its own error', async () => {
    const { database, stored, insert } = await openWithTable(open);
    const refuse = (code: string) => async (transaction: typeof database.kysely) => {
      await insert(code.length)(transaction);
      throw new Problem(code, 400, 'No.');
    };
    const outcomes = await Promise.allSettled([
      database.commit(refuse('a.b')),
      database.commit(insert(9)),
      database.commit(refuse('a.bc')),
    ]);
    expect(outcomes).toMatchObject([{ reason: { code: 'a.b' } }, { value: 9 }, { reason: { code: 'a.bc' } }]);
    expect(await stored()).toEqual([9]);
  });

  it('does not resolve before the commit', async () => {
    const { database, insert } = await openWithTable(open);
    let resolved = false;
    const first = database.commit(insert(1)).then(() => (resolved = true));
    await database.commit(async () => expect(resolved).toBe(false));
    await first;
    expect(resolved).toBe(true);
  });

  it('refuses work after close and finishes pending work', async () => {
    const { database, insert } = await openWithTable(open);
    const accepted = database.commit(insert(1));
    const closed = database[Symbol.asyncDispose]();
    await expect(database.commit(insert(2))).rejects.toMatchObject({ code: 'database.closed', status: 503 });
    await expect(accepted).resolves.toBe(1);
    await closed;
  });

  if (name === 'postgres') {
    it('fails only the work that continued after its own failed statement', async () => {
      const { database, stored, insert } = await openWithTable(open);
      await database.commit(insert(1));
      const outcomes = await Promise.allSettled([
        database.commit(insert(2)),
        database.commit((transaction) => insert(1)(transaction).catch(() => 'never mind')),
      ]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected']);
      expect(await stored()).toEqual([1, 2]);
    });

    it('reports an unreachable server and continues when it is back', async () => {
      const { database, stored, insert } = await openWithTable(open);
      await server().kill();
      const outcomes = await Promise.allSettled([1, 2].map((a) => database.commit(insert(a))));
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ reason: { code: 'database.unreachable', status: 503, retryable: true } });
      }
      await server().restart();
      await vi.waitFor(() => database.commit(insert(3)), { timeout: 10_000 });
      expect(await stored()).toEqual([3]);
    });
  }
});
