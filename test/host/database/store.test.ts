import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { eachDialect } from '../../support/database.ts';

eachDialect((_name, open) => {
  it('stores the column types of README.md alike in both dialects', async () => {
    const { kysely, migrate } = await open();
    const all = {
      name: '001-everything',
      up: async (db: typeof kysely) => {
        await db.schema
          .createTable('things')
          .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
          .addColumn('at', 'integer', (column) => column.notNull())
          .addColumn('size', 'real')
          .addColumn('name', 'text')
          .addColumn('bytes', 'blob')
          .execute();
      },
    };
    await migrate([all]);
    const timestamp = Date.UTC(2200, 0, 1);
    const rows = [
      { at: timestamp, size: 0.1, name: 'Grüße 🎈', bytes: Buffer.from([0, 255, 1]) },
      { at: -1, size: null, name: null, bytes: null },
    ];
    const ids = await kysely.insertInto('things').values(rows).returning('id').execute();
    expect(ids).toEqual([{ id: 1 }, { id: 2 }]);
    const read = await kysely.selectFrom('things').selectAll().orderBy('id').execute();
    expect(read).toEqual(rows.map((row, index) => ({ id: index + 1, ...row })));
    const sums = await kysely
      .selectFrom('things')
      .select((select) => [
        select.fn.sum('at').as('sum'),
        select.fn.countAll().as('count'),
        select.fn.max('at').as('max'),
      ])
      .executeTakeFirst();
    expect(sums).toEqual({ sum: timestamp - 1, count: 2, max: timestamp });
  });

  it('sees a column added after a statement was prepared', async () => {
    const { kysely } = await open();
    await kysely.schema.createTable('t').addColumn('a', 'integer').execute();
    await kysely.insertInto('t').values({ a: 1 }).execute();
    expect(await kysely.selectFrom('t').selectAll().execute()).toEqual([{ a: 1 }]);
    await kysely.schema.alterTable('t').addColumn('b', 'text').execute();
    expect(await kysely.selectFrom('t').selectAll().execute()).toEqual([{ a: 1, b: null }]);
  });

  it('isolates two databases', async () => {
    const [one, other] = [await open(), await open()];
    await one.kysely.schema.createTable('t').addColumn('a', 'integer').execute();
    await other.kysely.schema.createTable('t').addColumn('a', 'integer').execute();
    await one.kysely.insertInto('t').values({ a: 1 }).execute();
    expect(await other.kysely.selectFrom('t').selectAll().execute()).toEqual([]);
  });

  it('enforces foreign keys', async () => {
    const { kysely } = await open();
    await kysely.schema
      .createTable('a')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .execute();
    await sql`create table b (a integer references a (id) on delete cascade)`.execute(kysely);
    await expect(kysely.insertInto('b').values({ a: 1 }).execute()).rejects.toThrow();
    await kysely.insertInto('a').values({ id: 1 }).execute();
    await kysely.insertInto('b').values({ a: 1 }).execute();
    await kysely.deleteFrom('a').execute();
    expect(await kysely.selectFrom('b').selectAll().execute()).toEqual([]);
  });

  it('keeps the connection usable after a failed transaction', async () => {
    const { kysely } = await open();
    await kysely.schema
      .createTable('t')
      .addColumn('a', 'integer', (column) => column.primaryKey())
      .execute();
    const failing = kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto('t').values({ a: 1 }).execute();
      await transaction.insertInto('t').values({ a: 1 }).execute();
    });
    await expect(failing).rejects.toThrow(/unique/i);
    expect(await kysely.selectFrom('t').selectAll().execute()).toEqual([]);
  });
});
