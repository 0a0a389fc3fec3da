import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase, type Database } from '../../../main/host/database/open.ts';
import { ReadThread } from '../../../main/host/database/reads/thread.ts';
import { requestSignal } from '../../../main/host/runtime/request-signal.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { eachDialect } from '../../support/database.ts';

let folder: string;
let opened: AsyncDisposableStack;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reads-'));
  opened = new AsyncDisposableStack();
});
afterEach(async () => {
  await opened.disposeAsync();
  rmSync(folder, { recursive: true, force: true });
});

async function open(
  options: { readonly memoryMb?: number; readonly clock?: typeof systemClock } = {},
): Promise<Database> {
  const readThread = opened.use(new ReadThread({ clock: systemClock, log: silentLog, ...options }));
  return opened.use(await openDatabase({ folder, schema: 'service', log: silentLog, readThread }));
}

/** Selects rows that SQLite generates slowly. */
const numbers = (count: number) =>
  sql`with recursive n(a) as (select 1 union all select a + 1 from n where a < ${count})`;

const sumUpTo = (count: number) => sql<{ sum: number }>`${numbers(count)} select sum(a) as sum from n`;

describe('read thread', () => {
  it('sees committed data and nothing that was rolled back', async () => {
    const { kysely, reads, commit } = await open();
    await sql`create table t (a integer)`.execute(kysely);
    for (let a = 1; a <= 50; a += 1) {
      await commit((transaction) => transaction.insertInto('t').values({ a }).execute());
      const { count } = await reads
        .selectFrom('t')
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow();
      expect(count).toBe(a);
    }
    await expect(
      commit(async (transaction) => {
        await transaction.deleteFrom('t').execute();
        throw new Error('not meant');
      }),
    ).rejects.toThrow('not meant');
    expect(await reads.selectFrom('t').select('a').execute()).toHaveLength(50);
  });

  it('does not block the event loop', async () => {
    const { kysely, reads } = await open();
    const order: string[] = [];
    const slow = sumUpTo(3_000_000)
      .execute(reads)
      .then(({ rows }) => order.push(`sum ${String(rows[0]?.sum)}`));
    const another = sql`select 1`.execute(reads).then(() => order.push('another read'));
    await Promise.all([slow, another]);
    expect(order).toEqual(['sum 4500001500000', 'another read']);

    order.length = 0;
    const second = sumUpTo(3_000_000)
      .execute(reads)
      .then(() => order.push('read'));
    for (let turn = 0; turn < 5; turn += 1) await sql`select 1`.execute(kysely);
    order.push('five statements');
    await second;
    expect(order).toEqual(['five statements', 'read']);
  });

  it('returns the same values as the other connection, also in several parts', async () => {
    const { kysely, reads, commit } = await open();
    await sql`create table t (a integer primary key, b blob, c text, d real)`.execute(kysely);
    const rows = Array.from({ length: 500 }, (_, a) => ({
      a,
      b: Buffer.alloc(2000, a),
      c: a % 2 ? null : 'x',
      d: a / 3,
    }));
    await commit((transaction) => transaction.insertInto('t').values(rows).execute());
    const read = await reads.selectFrom('t').selectAll().orderBy('a').execute();
    expect(read).toEqual(await kysely.selectFrom('t').selectAll().orderBy('a').execute());
    expect(Buffer.isBuffer(read[3]?.['b'])).toBe(true);
  });

  it('refuses writes and transactions', async () => {
    const { kysely, reads } = await open();
    await sql`create table t (a integer)`.execute(kysely);
    await expect(reads.insertInto('t').values({ a: 1 }).execute()).rejects.toThrow('only reads');
    await expect(reads.insertInto('t').values({ a: 1 }).returning('a').execute()).rejects.toThrow('only reads');
    await expect(reads.transaction().execute(async () => undefined)).rejects.toThrow('no transactions');
    expect(await reads.selectFrom('t').select('a').execute()).toEqual([]);
  });

  it('reports errors of SQLite and continues', async () => {
    const { reads } = await open();
    await expect(reads.selectFrom('nowhere').selectAll().execute()).rejects.toThrow('no such table: nowhere');
    expect((await sql`select 1 as a`.execute(reads)).rows).toEqual([{ a: 1 }]);
  });

  it('refuses results that exceed the memory limit', async () => {
    const { reads } = await open();
    const huge = sql`${numbers(100)} select printf('%.*c', 1000000, 'x') as text from n`;
    await expect(huge.execute(reads)).rejects.toMatchObject({ code: 'database.too_large', status: 413 });
    const many = sql`${numbers(10_000_000)} select a from n`;
    await expect(many.execute(reads)).rejects.toMatchObject({ code: 'database.too_large' });
    expect((await sql`select 1 as a`.execute(reads)).rows).toEqual([{ a: 1 }]);
  });

  it('refuses more than a thousand queued reads', async () => {
    const { reads } = await open();
    const results = await Promise.allSettled(Array.from({ length: 1200 }, () => sumUpTo(1000).execute(reads)));
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(results.length - refused.length).toBeGreaterThanOrEqual(1000);
    for (const entry of refused) expect(entry).toMatchObject({ reason: { code: 'database.busy', status: 503 } });
  });

  it('cancels queued and running reads of a disconnected client', async () => {
    const { reads } = await open();
    await sql`select 1`.execute(reads);
    const client = new AbortController();
    const forIt = () =>
      requestSignal.run(client.signal, () => sql`${numbers(1e9)} select a from n where a % 1000 = 0`.execute(reads));
    const begun = forIt();
    const queuedRead = forIt();
    const others = sumUpTo(10).execute(reads);
    client.abort();
    await expect(begun).rejects.toThrow(/abort/);
    await expect(queuedRead).rejects.toThrow(/abort/);
    // It does not wait for a thousand million rows.
    expect((await others).rows).toEqual([{ sum: 55 }]);
    await expect(forIt()).rejects.toThrow(/abort/);
  });

  it('retries the current read once after a crash, then refuses it, and serves the others', async () => {
    const { reads } = await open({ memoryMb: 16 });
    const oversizedRead = sql`${numbers(10_000_000)} select a from n`.execute(reads);
    const others = Promise.all([sumUpTo(10).execute(reads), sumUpTo(100).execute(reads)]);
    await expect(oversizedRead).rejects.toMatchObject({ code: 'database.reader_failed', status: 503 });
    expect((await others).map(({ rows }) => rows[0]?.sum)).toEqual([55, 5050]);
  });

  it('ends with its database, which leaves one file behind', async () => {
    const database = await open();
    await sql`create table t (a integer)`.execute(database.kysely);
    const { reads } = database;
    await reads.selectFrom('t').selectAll().execute();
    const last = sumUpTo(1_000_000).execute(reads);
    const queuedRead = sumUpTo(3).execute(reads);
    await nextTurn();
    const closing = database[Symbol.asyncDispose]();
    await expect(queuedRead).rejects.toMatchObject({ code: 'database.closed' });
    await closing;
    expect((await last).rows).toEqual([{ sum: 500_000_500_000 }]);
    expect(readdirSync(folder)).toEqual(['db.sqlite']);
    await expect(reads.selectFrom('t').selectAll().execute()).rejects.toThrow();
  });

  it.runIf(process.platform === 'linux')('ends after a minute without reads', async () => {
    const clock = createFakeClock();
    const { kysely, reads } = await open({ clock });
    const threads = (): number => readdirSync('/proc/self/task').length;
    await sql`create table t (a integer)`.execute(kysely);
    await reads.selectFrom('t').selectAll().execute();
    const before = threads();
    clock.advance(61_000);
    await vi.waitFor(() => expect(threads()).toBe(before - 1));
    expect(await reads.selectFrom('t').selectAll().execute()).toEqual([]);
  });
});

eachDialect((_name, openOne) => {
  it('is replaced by the other connection where there is no read thread', async () => {
    const { kysely, reads } = await openOne();
    expect(reads).toBe(kysely);
  });
});
