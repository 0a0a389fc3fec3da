import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { defineJob, type JobAttempt } from '../../../services/contracts/jobs.ts';
import { eachDialect } from '../../support/database.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const Payload = z.object({ n: z.int() });
const greet = defineJob('test.greet', Payload);

eachDialect((_name, open) => {
  it('runs a job once after the transaction that enqueued it', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const seen: Omit<JobAttempt<unknown>, 'signal'>[] = [];
    using _greeting = jobs.handle(greet, async ({ signal, ...attempt }) => {
      expect(signal.aborted).toBe(false);
      seen.push(attempt);
    });
    const id = await database.commit((transaction) => jobs.enqueue(transaction, greet, { n: 1 }, { key: 'a' }));
    await fixture.settle('done', 1);
    expect(seen).toEqual([
      { id, key: 'a', payload: { n: 1 }, attempt: 1, hasSuccessors: false, createdAt: clock.now() },
    ]);
  });

  it('runs nothing of a rolled back transaction', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    const seen: number[] = [];
    using _greeting = jobs.handle(greet, async ({ payload }) => void seen.push(payload.n));
    const rolledBack = database.kysely.transaction().execute(async (transaction) => {
      await jobs.enqueue(transaction, greet, { n: 1 });
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await jobs.enqueue(database.kysely, greet, { n: 2 });
    await fixture.settle('done', 1);
    expect(seen).toEqual([2]);
  });

  it('does not miss a job of a long transaction', async () => {
    await using fixture = await openJobsFixture(await open(), { realClock: systemClock });
    const { jobs, database } = fixture;
    const seen: number[] = [];
    using _greeting = jobs.handle(greet, async ({ payload }) => void seen.push(payload.n));
    for (const ms of [0, 3, 40, 200]) {
      await database.kysely.transaction().execute(async (transaction) => {
        await jobs.enqueue(transaction, greet, { n: ms });
        await delay(ms);
      });
    }
    await fixture.settle('done', 4);
    expect(seen).toEqual([0, 3, 40, 200]);
  });

  it('runs jobs enqueued before their handler exists', async () => {
    await using fixture = await openJobsFixture(await open());
    await fixture.jobs.enqueueAll(
      fixture.database.kysely,
      greet,
      Array.from({ length: 2500 }, (_, n) => ({ payload: { n } })),
    );
    expect(await fixture.jobs.count('waiting')).toBe(2500);
    const seen = new Set<number>();
    using _greeting = fixture.jobs.handle(greet, async ({ payload }) => void seen.add(payload.n));
    await fixture.settle('done', 2500);
    expect(seen.size).toBe(2500);
  });

  it('runs no job before its time', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const seen: number[] = [];
    using _greeting = jobs.handle(greet, async ({ payload }) => void seen.push(payload.n));
    await jobs.enqueueAll(database.kysely, greet, [
      { payload: { n: 3 }, runAt: clock.now() + 30_000 },
      { payload: { n: 1 } },
      { payload: { n: 2 }, runAt: clock.now() + 2_000 },
    ]);
    await fixture.settle('done', 1);
    clock.advance(1_999);
    await jobs.enqueue(database.kysely, greet, { n: 11 });
    await fixture.settle('done', 2);
    expect(seen).toEqual([1, 11]);
    clock.advance(1);
    await fixture.settle('done', 3);
    clock.advance(28_000);
    await fixture.settle('done', 4);
    expect(seen).toEqual([1, 11, 2, 3]);
  });

  it('limits concurrent jobs per kind', async () => {
    await using fixture = await openJobsFixture(await open());
    const two = defineJob('test.two', Payload, { concurrency: 2 });
    const waiting: (() => void)[] = [];
    let maxRunning = 0;
    using _two = fixture.jobs.handle(two, () => {
      maxRunning = Math.max(maxRunning, waiting.length + 1);
      return new Promise<void>((resolve) => waiting.push(resolve));
    });
    await fixture.jobs.enqueueAll(
      fixture.database.kysely,
      two,
      [1, 2, 3, 4, 5].map((n) => ({ payload: { n } })),
    );
    for (let done = 1; done <= 5; done += 1) {
      await vi.waitFor(() => expect(waiting.length).toBe(Math.min(2, 6 - done)));
      waiting.shift()?.();
      await fixture.settle('done', done);
    }
    expect(maxRunning).toBe(2);
  });

  it('ignores a known key until a week after completion', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const other = defineJob('test.other', Payload);
    const seen: number[] = [];
    using _greeting = jobs.handle(greet, async ({ payload }) => void seen.push(payload.n));
    const enqueue = (n: number) =>
      database.commit((transaction) => jobs.enqueue(transaction, greet, { n }, { key: 'same' }));
    const [first, second] = await Promise.all([enqueue(1), enqueue(2)]);
    expect(second).toBe(first);
    await fixture.settle('done', 1);
    expect(await enqueue(3)).toBe(first);
    await jobs.enqueueAll(database.kysely, greet, [
      { payload: { n: 4 }, key: 'same' },
      { payload: { n: 5 }, key: 'twice' },
      { payload: { n: 6 }, key: 'twice' },
    ]);
    expect(await jobs.enqueue(database.kysely, other, { n: 7 }, { key: 'same' })).not.toBe(first);
    await fixture.settle('done', 2);
    expect(seen).toEqual([1, 5]);

    clock.advance(6 * 86_400_000);
    expect(await enqueue(8)).toBe(first);
    clock.advance(86_400_000 + 3_600_000);
    await vi.waitFor(async () => expect(await enqueue(9)).not.toBe(first));
    await vi.waitFor(() => expect(seen).toEqual([1, 5, 9]));
  });

  it('validates a payload when it is enqueued', async () => {
    await using fixture = await openJobsFixture(await open());
    const wrong = fixture.jobs.enqueue(fixture.database.kysely, greet, { n: 1.5 });
    await expect(wrong).rejects.toMatchObject({ code: 'jobs.invalid_payload' });
    expect(await fixture.jobs.list()).toEqual([]);
  });

  it('makes a job with an invalid payload a dead letter with the reason', async () => {
    await using fixture = await openJobsFixture(await open());
    await fixture.jobs.enqueue(fixture.database.kysely, greet, { n: 1 });
    const later = defineJob('test.greet', z.object({ name: z.string() }));
    const handler = vi.fn(async () => undefined);
    using _greeting = fixture.jobs.handle(later, handler);
    expect((await fixture.one('dead')).lastError).toContain('name');
    expect(handler).not.toHaveBeenCalled();
  });

  it('makes a job whose schema throws a dead letter and continues', async () => {
    await using fixture = await openJobsFixture(await open());
    const one = { concurrency: 1 };
    const strict = z.object({ n: z.int() }).transform(({ n }) => {
      if (n === 1) throw new Error('this schema has a fault');
      return { n };
    });
    await fixture.jobs.enqueue(fixture.database.kysely, defineJob('test.odd', z.object({ n: z.int() }), one), { n: 1 });
    await fixture.jobs.enqueue(fixture.database.kysely, defineJob('test.odd', z.object({ n: z.int() }), one), { n: 2 });
    const handler = vi.fn(async () => undefined);
    using _working = fixture.jobs.handle(defineJob('test.odd', strict, one), handler);
    await fixture.settle('done', 1);
    expect((await fixture.one('dead')).lastError).toContain('no longer valid');
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('deletes the payload of a completed job', async () => {
    await using fixture = await openJobsFixture(await open());
    using _greeting = fixture.jobs.handle(greet, async () => undefined);
    await fixture.jobs.enqueue(fixture.database.kysely, greet, { n: 424_242 });
    await fixture.settle('done', 1);
    const rows = await fixture.database.kysely.selectFrom('jobs').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain('424242');
  });

  it('takes no jobs after the disposal of its handler and continues with the next one', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    const first = jobs.handle(greet, async () => undefined);
    expect(() => jobs.handle(greet, async () => undefined)).toThrow('have a handler already');
    await jobs.enqueue(database.kysely, greet, { n: 1 });
    await fixture.settle('done', 1);
    first[Symbol.dispose]();
    await jobs.enqueue(database.kysely, greet, { n: 2 });
    expect(await jobs.count('waiting')).toBe(1);
    using _second = jobs.handle(greet, async () => undefined);
    await fixture.settle('done', 2);
  });

  it('does not access the database while idle', async () => {
    const database = await open();
    let commits = 0;
    const counting =
      (commit: typeof database.commit): typeof database.commit =>
      (work) => {
        commits += 1;
        return commit(work);
      };
    await using fixture = await openJobsFixture({
      ...database,
      commit: counting(database.commit),
      note: counting(database.note),
    });
    using _greeting = fixture.jobs.handle(greet, async () => undefined);
    await fixture.jobs.enqueue(database.kysely, greet, { n: 1 });
    await fixture.jobs.enqueue(database.kysely, greet, { n: 1 }, { runAt: fixture.clock.now() + 60_000 });
    await fixture.settle('done', 1);
    await delay(50);
    const before = commits;
    await delay(100);
    expect(commits).toBe(before);
  });
});
