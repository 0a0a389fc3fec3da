import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { Problem } from '../../../services/contracts/problem.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import type { Database } from '../../../main/host/database/open.ts';
import { eachDialect } from '../../support/database.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const count = defineJob('test.count', z.object({ n: z.int() }), { concurrency: 8 });
const payloads = (numbers: readonly number[]) => numbers.map((n) => ({ payload: { n } }));

async function withTable(database: Database): Promise<Database> {
  await database.kysely.schema.createTable('results').addColumn('n', 'integer').execute();
  return database;
}

const stored = async ({ kysely }: Database): Promise<readonly number[]> =>
  (await kysely.selectFrom('results').select('n').orderBy('n').execute()).map(({ n }) => Number(n));

eachDialect((_name, open) => {
  it('records results together with the marks and reports when they are stored', async () => {
    await using fixture = await openJobsFixture(await withTable(await open()));
    const recorded: number[] = [];
    using _counting = fixture.jobs.handle(count, async ({ payload }) => payload.n * 10, {
      async record(transaction, results) {
        await transaction
          .insertInto('results')
          .values(results.map((n) => ({ n })))
          .execute();
      },
      onDone: (results) => void recorded.push(...results),
    });
    await fixture.jobs.enqueueAll(fixture.database.kysely, count, payloads([1, 2, 3, 4, 5]));
    await fixture.settle('done', 5);
    await vi.waitFor(() => expect(recorded.toSorted((a, b) => a - b)).toEqual([10, 20, 30, 40, 50]));
    expect(await stored(fixture.database)).toEqual([10, 20, 30, 40, 50]);
  });

  it('records them again with the marks after a refused transaction', async () => {
    const database = await withTable(await open());
    await using fixture = await openJobsFixture(database);
    let refusals = 2;
    const recorded: number[] = [];
    using _counting = fixture.jobs.handle(count, async ({ payload }) => payload.n, {
      async record(transaction, results) {
        await transaction
          .insertInto('results')
          .values(results.map((n) => ({ n })))
          .execute();
        if ((refusals -= 1) >= 0) throw new Problem('database.busy', 503, 'The database is busy.');
      },
      onDone: (results) => void recorded.push(...results),
    });
    await fixture.jobs.enqueueAll(fixture.database.kysely, count, payloads([1, 2]));
    await vi.waitFor(async () => {
      fixture.clock.advance(1000);
      expect(await fixture.jobs.count('done')).toBe(2);
    });
    expect(await stored(database)).toEqual([1, 2]);
    await vi.waitFor(() => expect(recorded.toSorted()).toEqual([1, 2]));
  });

  it('runs no job before its row is on the disk', async () => {
    const sync = Promise.withResolvers<boolean>();
    const database = await open();
    await using fixture = await openJobsFixture({ ...database, settling: () => sync.promise });
    const handler = vi.fn(async () => undefined);
    using _counting = fixture.jobs.handle(count, handler);
    await fixture.jobs.enqueue(database.kysely, count, { n: 1 });
    await fixture.settle('running', 1);
    expect(handler).not.toHaveBeenCalled();
    sync.resolve(true);
    await fixture.settle('done', 1);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});
