import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import type { Database } from '../../../main/host/database/open.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { startChild } from '../../support/child.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const link = defineJob('test.link', z.object({ n: z.int() }));
const chain = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: { n }, orderKey: 'chain' }));

/** Wraps a database and counts its commits and notes. */
function counting(database: Database) {
  const counts = { commits: 0, notes: 0 };
  const counted: Database = {
    ...database,
    commit: (work) => {
      counts.commits += 1;
      return database.commit(work);
    },
    note: (work) => {
      counts.notes += 1;
      return database.note(work);
    },
  };
  return { asked: counts, counted };
}

eachDialect((_name, open, createLocation) => {
  it('continues a chain after kill -9 without loss or reordering, repeating only the running job', async () => {
    const location = createLocation();
    const folder = mkdtempSync(join(tmpdir(), 'chain-'));
    const file = join(folder, 'done');
    try {
      await using child = startChild(import.meta.resolve('./chaining.ts'), { location, file, jobs: 1_000 });
      await child.waitForLine('under way');
      await child.kill();
      await using fixture = await openJobsFixture(await open(location), { realClock: systemClock });
      const first = await fixture.jobs.count('done');
      using _linking = fixture.jobs.handle(link, async ({ payload: { n } }) => appendFileSync(file, `${n}\n`));
      await fixture.settle('done', 1_000);
      expect(first).toBeLessThan(1_000);
      const seen = readFileSync(file, 'utf8').trim().split('\n').map(Number);
      const twice = seen.filter((n, index) => seen[index - 1] === n);
      expect(twice.length).toBeLessThanOrEqual(1);
      expect(seen.filter((n, index) => seen[index - 1] !== n)).toEqual(chain(1_000).map(({ payload }) => payload.n));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('serves other jobs beside an endless chain', async () => {
    const single = defineJob('test.single', z.object({ n: z.int() }), { concurrency: 1 });
    await using fixture = await openJobsFixture(await open(), { realClock: systemClock });
    const { jobs, database } = fixture;
    let length = 0;
    const other = Promise.withResolvers<number>();
    const enqueue = (n: number, orderKey: string) =>
      database.commit((transaction) => jobs.enqueue(transaction, single, { n }, { orderKey }));
    using _working = jobs.handle(single, async ({ payload: { n } }) => {
      if (n < 0) return other.resolve(length);
      length = n;
      // Long enough to detect starvation of the other job.
      if (n < 2_000) await enqueue(n + 1, 'chain');
      if (n === 20) await enqueue(-1, 'other');
      if (n === 2_000) other.resolve(length);
    });
    await enqueue(0, 'chain');
    expect(await other.promise).toBeLessThan(200);
  });

  it('marks one job and claims the next in a single note without a commit', async () => {
    const database = await open();
    const { asked: counts, counted } = counting(database);
    await using fixture = await openJobsFixture(counted);
    const seen: number[] = [];
    await fixture.jobs.enqueueAll(database.kysely, link, chain(50));
    counts.notes = 0;
    using _linking = fixture.jobs.handle(link, async ({ payload: { n } }) => void seen.push(n));
    await fixture.settle('done', 50);
    expect(seen).toEqual(chain(50).map(({ payload }) => payload.n));
    expect(counts.commits).toBe(0);
    expect(counts.notes).toBeLessThanOrEqual(53);
  });

  it('commits dead letters, retries and drops', async () => {
    const { asked: counts, counted } = counting(await open());
    await using fixture = await openJobsFixture(counted);
    const commitsAtDeath: number[] = [];
    using _linking = fixture.jobs.handle(link, () => Promise.reject(new Problem('test.gone', 410, 'Gone.')), {
      onDead: () => void commitsAtDeath.push(counts.commits),
    });
    const id = await fixture.jobs.enqueue(counted.kysely, link, { n: 1 });
    await vi.waitFor(() => expect(commitsAtDeath).toEqual([1]));
    await fixture.jobs.retry(id);
    await vi.waitFor(() => expect(commitsAtDeath).toEqual([1, 3]));
    await fixture.jobs.drop(id);
    expect(counts.commits).toBe(4);
  });

  it('does not run a job twice when the database lost the claim', async () => {
    await using fixture = await openJobsFixture(await open());
    let finish: () => void = () => undefined;
    const handler = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    using _linking = fixture.jobs.handle(link, handler);
    await fixture.jobs.enqueueAll(fixture.database.kysely, link, chain(2));
    await fixture.settle('running', 1);
    const resetColumns = { state: 'waiting', attempts: 0, lease_owner: null, lease_until: null };
    await fixture.database.kysely.updateTable('jobs').set(resetColumns).where('state', '=', 'running').execute();
    await fixture.jobs.enqueue(fixture.database.kysely, link, { n: 9 }, { orderKey: 'chain' });
    // Makes the claims read the table again.
    const waiting = await fixture.jobs.list({ state: 'waiting' });
    await fixture.jobs.retry(waiting.at(-1)?.id ?? '');
    await fixture.settle('running', 1);
    expect(handler).toHaveBeenCalledTimes(1);
    for (let done = 1; done <= 3; done += 1) {
      await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(done));
      finish();
      await fixture.settle('done', done);
    }
    expect(handler).toHaveBeenCalledTimes(3);
  });

  it('continues with a job that was enqueued while the end of its predecessor was written', async () => {
    const database = await open();
    const clock = createFakeClock();
    let late: (() => Promise<unknown>) | undefined;
    const mark: Database['mark'] = async (work) => {
      const enqueue = late;
      late = undefined;
      await enqueue?.();
      return database.mark(work);
    };
    await using fixture = await openJobsFixture({ ...database, mark }, { clock });
    const seen: number[] = [];
    using _linking = fixture.jobs.handle(link, async ({ payload }) => {
      seen.push(payload.n);
      if (payload.n !== 1) return;
      late = () => {
        clock.advance(1);
        return fixture.jobs.enqueue(database.kysely, link, { n: 2 }, { orderKey: 'chain' });
      };
    });
    await fixture.jobs.enqueue(database.kysely, link, { n: 1 }, { orderKey: 'chain' });
    await fixture.settle('done', 2);
    expect(seen).toEqual([1, 2]);
  });

  it('marks a job as done although the database lost the claim', async () => {
    await using fixture = await openJobsFixture(await open());
    let finish: () => void = () => undefined;
    const handler = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    using _linking = fixture.jobs.handle(link, handler);
    await fixture.jobs.enqueue(fixture.database.kysely, link, { n: 1 });
    await fixture.settle('running', 1);
    const resetColumns = { state: 'waiting', attempts: 0, lease_owner: null, lease_until: null };
    await fixture.database.kysely.updateTable('jobs').set(resetColumns).execute();
    finish();
    await fixture.settle('done', 1);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('releases jobs of a stored claim that seemed to fail', async () => {
    const database = await open();
    let fail = false;
    const lost: Database['mark'] = async (work) => {
      const value = await database.mark(work);
      if (!fail) return value;
      fail = false;
      throw new Problem('database.unreachable', 503, 'The database server does not answer.');
    };
    await using fixture = await openJobsFixture({ ...database, mark: lost });
    const attempts: number[] = [];
    await fixture.jobs.enqueueAll(database.kysely, link, [...chain(2), { payload: { n: 5 } }]);
    fail = true;
    using _linking = fixture.jobs.handle(link, async ({ attempt }) => void attempts.push(attempt));
    await fixture.settle('running', 2);
    expect(attempts).toEqual([]);
    await vi.waitFor(async () => {
      fixture.clock.advance(1_000);
      expect(await fixture.jobs.count('done')).toBe(3);
    });
    expect(attempts).toEqual([1, 1, 1]);
  });
});
