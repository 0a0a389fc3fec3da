import { sql, type Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import { executeCached } from '../../../services/kit/cached-statement.ts';
import { eachDialect } from '../../support/database.ts';

eachDialect((_name, open) => {
  const openTable = async () => {
    const { kysely, commit } = await open();
    await kysely.schema.createTable('pairs').addColumn('a', 'integer').addColumn('b', 'text').execute();
    let built = 0;
    const insert = (db: Kysely<any>, rows: readonly { a: number; b: string }[]) =>
      executeCached(
        db,
        `pairs ${String(rows.length)}`,
        rows.flatMap(({ a, b }) => [a, b]),
        () => {
          built += 1;
          return db.insertInto('pairs').values(rows).compile();
        },
      );
    const all = () => kysely.selectFrom('pairs').selectAll().orderBy('a').execute();
    return { kysely, commit, insert, all, built: () => built };
  };

  describe('executeCached', () => {
    it('builds a statement once per shape for all transactions and binds the values of each call', async () => {
      const { commit, kysely, insert, all, built } = await openTable();
      const rows = Array.from({ length: 5 }, (_, a) => ({ a, b: `row ${String(a)}` }));
      await commit((transaction) => insert(transaction, rows.slice(0, 2)));
      await commit((transaction) => insert(transaction, rows.slice(2, 4)));
      expect(built()).toBe(1);
      await insert(kysely, rows.slice(4));
      expect(built()).toBe(2);
      expect(await all()).toEqual(rows);
    });

    it('returns rows', async () => {
      const { kysely, insert } = await openTable();
      await insert(kysely, [{ a: 7, b: 'seven' }]);
      const find = (a: number) =>
        executeCached(kysely, 'pair', [a], () =>
          sql<{ b: string }>`select b from pairs where a = ${a}`.compile(kysely),
        );
      expect((await find(7)).rows).toEqual([{ b: 'seven' }]);
      expect((await find(7)).rows).toEqual([{ b: 'seven' }]);
      expect((await find(8)).rows).toEqual([]);
    });

    it('rejects values in another order than the built statement before anything is written', async () => {
      const { kysely, all } = await openTable();
      const build = () => kysely.insertInto('pairs').values({ a: 1, b: 'one' }).compile();
      await expect(executeCached(kysely, 'wrong', ['one', 1], build)).rejects.toThrow(/wrong/);
      await expect(executeCached(kysely, 'wrong', [1], build)).rejects.toThrow(/wrong/);
      expect(await all()).toEqual([]);
    });

    it('rebuilds evicted statements and statements that are too long to cache', async () => {
      const { kysely, insert, all, built } = await openTable();
      const rows = (count: number) => Array.from({ length: count }, (_, a) => ({ a, b: '' }));
      for (let count = 1; count <= 120; count += 1) await insert(kysely, rows(count));
      expect(built()).toBe(120);
      await insert(kysely, rows(120));
      expect(built()).toBe(120);
      await insert(kysely, rows(1));
      expect(built()).toBe(121);
      await insert(kysely, rows(900));
      await insert(kysely, rows(900));
      expect(built()).toBe(123);
      expect(await all()).toHaveLength((120 * 121) / 2 + 120 + 1 + 1800);
    });
  });
});
