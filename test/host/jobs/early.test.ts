import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../main/host/database/open.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { eachDialect } from '../../support/database.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

/** The clock of these tests jumps, so attempts need a long timeout. */
const limits = { concurrency: 3, timeoutMs: 1_000_000_000 };
const step = defineJob('test.step', z.object({ key: z.string(), n: z.int() }), limits);

/** Enqueues a job in its own commit. */
function add({ jobs, database }: JobsFixture, key: string, n: number): Promise<string> {
  return database.commit((transaction) => jobs.enqueue(transaction, step, { key, n }, { orderKey: key }));
}

/** Returns a reproducible random number generator for 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

eachDialect((name, open) => {
  it('runs jobs of many concurrent commits in the order of their keys within the limit', async () => {
    await using fixture = await openJobsFixture(await open());
    const seen = new Map<string, number[]>();
    const running = new Set<string>();
    let maxRunning = 0;
    using _stepping = fixture.jobs.handle(step, async ({ payload: { key, n } }) => {
      expect(running.has(key)).toBe(false);
      running.add(key);
      maxRunning = Math.max(maxRunning, running.size);
      await nextTurn();
      running.delete(key);
      seen.set(key, [...(seen.get(key) ?? []), n]);
    });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    const all = Array.from({ length: 25 }, (_, n) => n);
    for (const n of all) {
      const added = keys.map((key) => add(fixture, key, n));
      // Some rounds find earlier jobs still queued, others find all done.
      if (n % 4 === 0) await Promise.all(added);
      if (n === 12) await fixture.settle('done', 13 * keys.length);
    }
    await fixture.settle('done', all.length * keys.length);
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(keys.map((key) => [key, all])));
    expect(maxRunning).toBe(3);
  });

  it('preserves order across failures, dead letters and drops', async () => {
    await using fixture = await openJobsFixture(await open());
    const random = numbers(7);
    const ended = new Map<string, number[]>();
    const tries = new Map<string, number>();
    const dropped = new Set<string>();
    const dead: number[] = [];
    const batches = new Map<string, number[]>();
    const end = (key: string, n: number): void => void ended.set(key, [...(ended.get(key) ?? []), n]);
    using _stepping = fixture.jobs.handle(
      step,
      async ({ payload: { key, n } }) => {
        await nextTurn();
        const id = `${key}${String(n)}`;
        const tried = (tries.get(id) ?? 0) + 1;
        tries.set(id, tried);
        if (n % 7 === 3 && tried < 3) throw new Error('not yet');
        if (n % 11 === 5) throw new Problem('test.gone', 410, 'Gone.', { retryable: false });
        end(key, n);
      },
      {
        onDead({ payload: { key, n } }) {
          dead.push(n);
          end(key, n);
        },
      },
    );
    for (let n = 0; n < 60; n += 1) {
      const key = 'abcd'.charAt(Math.floor(random() * 4));
      const added = add(fixture, key, n);
      batches.set(key, [...(batches.get(key) ?? []), n]);
      if (random() < 0.5) continue;
      const id = await added;
      if (random() < 0.3 && (await fixture.jobs.drop(id))) dropped.add(`${key}${String(n)}`);
      if (random() < 0.3) fixture.clock.advance(20_000);
    }
    await vi.waitFor(
      async () => {
        fixture.clock.advance(60_000);
        // In one read, since a retried job changes between these states.
        const states = (await fixture.jobs.list({ limit: 1_000 })).map(({ state }) => state);
        expect(states.filter((state) => state === 'waiting' || state === 'running')).toEqual([]);
        // Dead letters are reported shortly after they are stored.
        expect(dead.length).toBe(await fixture.jobs.count('dead'));
      },
      { timeout: 15_000, interval: 20 },
    );
    for (const [key, numbersOfKey] of batches) {
      const ran = ended.get(key) ?? [];
      expect(ran, key).toEqual(ran.toSorted((one, other) => one - other));
      expect([...new Set(ran)], key).toEqual(ran);
      // A job that was dropped while running has run.
      expect([...ran, ...numbersOfKey.filter((n) => dropped.has(key + String(n)))], key).toEqual(
        expect.arrayContaining(numbersOfKey),
      );
    }
  });

  it('skips a dropped blocked job and continues with the next', async () => {
    await using fixture = await openJobsFixture(await open());
    const seen: number[] = [];
    let finish: () => void = () => undefined;
    using _stepping = fixture.jobs.handle(step, async ({ payload: { n } }) => {
      seen.push(n);
      if (n === 0) await new Promise<void>((resolve) => (finish = resolve));
    });
    await add(fixture, 'a', 0);
    await vi.waitFor(() => expect(seen).toEqual([0]));
    const [second = ''] = await Promise.all([1, 2, 3].map((n) => add(fixture, 'a', n)));
    expect(await fixture.jobs.drop(second)).toBe(true);
    finish();
    await fixture.settle('done', 3);
    expect(seen).toEqual([0, 2, 3]);
  });

  it('marks long jobs as running and counts their attempts', async () => {
    await using fixture = await openJobsFixture(await open());
    const attempts: number[] = [];
    const ends: ((error: Error) => void)[] = [];
    using _stepping = fixture.jobs.handle(step, ({ attempt }) => {
      attempts.push(attempt);
      return new Promise<void>((_resolve, reject) => ends.push(reject));
    });
    await add(fixture, 'a', 0);
    await vi.waitFor(() => expect(attempts).toEqual([1]));
    await vi.waitFor(async () => {
      fixture.clock.advance(300);
      expect(await fixture.jobs.count('running')).toBe(1);
    });
    expect(await fixture.one('running')).toMatchObject({ attempts: 1 });
    ends[0]?.(new Error('no'));
    expect(await fixture.one('waiting')).toMatchObject({ attempts: 1 });
    fixture.clock.advance(60_000);
    await vi.waitFor(() => expect(attempts).toEqual([1, 2]));
    ends[1]?.(new Error('no'));
    expect(await fixture.one('waiting')).toMatchObject({ attempts: 2 });
  });

  it('completes all jobs when the handler is registered and removed', async () => {
    await using fixture = await openJobsFixture(await open());
    const seen: number[] = [];
    let finish: () => void = () => undefined;
    const first = fixture.jobs.handle(step, async ({ payload: { n } }) => {
      seen.push(n);
      await new Promise<void>((resolve) => (finish = resolve));
    });
    for (const n of [0, 1, 2]) await add(fixture, 'a', n);
    await vi.waitFor(() => expect(seen).toEqual([0]));
    first[Symbol.dispose]();
    finish();
    await fixture.settle('done', 1);
    using _second = fixture.jobs.handle(step, async ({ payload: { n } }) => void seen.push(n));
    await fixture.settle('done', 3);
    expect(seen).toEqual([0, 1, 2]);
  });

  it('lets a retried dead letter wait for another job of its order key', async () => {
    const database = await open();
    let marks = 0;
    const mark: Database['mark'] = (work) => {
      marks += 1;
      return database.mark(work);
    };
    await using fixture = await openJobsFixture({ ...database, mark });
    const seen: number[] = [];
    let isGone = true;
    let finish: () => void = () => undefined;
    using _stepping = fixture.jobs.handle(step, async ({ payload: { n } }) => {
      if (n === 0 && isGone) throw new Problem('test.gone', 410, 'Gone.', { retryable: false });
      seen.push(n);
      if (n === 1) await new Promise<void>((resolve) => (finish = resolve));
    });
    const id = await add(fixture, 'a', 0);
    await fixture.settle('dead', 1);
    isGone = false;
    await add(fixture, 'a', 1);
    await vi.waitFor(() => expect(seen).toEqual([1]));
    expect(await fixture.jobs.retry(id)).toBe(true);
    for (let turns = 0; turns < 20; turns += 1) await nextTurn();
    marks = 0;
    // Each of these reads gives the worker time for at least one turn.
    for (let turns = 0; turns < 200; turns += 1) await fixture.jobs.count('waiting');
    expect(marks).toBeLessThan(10);
    expect(seen).toEqual([1]);
    finish();
    await fixture.settle('done', 2);
    expect(seen).toEqual([1, 0]);
  });

  it('preserves order when the id of a rolled back job is reused', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const seen: string[] = [];
    const other = defineJob('test.other', z.object({ n: z.int() }));
    using _other = jobs.handle(other, async () => void seen.push('other'));
    using _stepping = jobs.handle(step, async ({ payload: { n } }) => void seen.push(`step ${n}`));
    const buildJob = (n: number, runAt: number) =>
      database.commit((transaction) => jobs.enqueue(transaction, step, { key: 'a', n }, { orderKey: 'a', runAt }));
    await buildJob(1, clock.now() + 60_000);
    const undone = database.commit(async (transaction) => {
      await jobs.enqueue(transaction, step, { key: 'a', n: 2 }, { orderKey: 'a' });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await database.commit((transaction) => jobs.enqueue(transaction, other, { n: 3 }));
    await vi.waitFor(() => expect(seen).toEqual(['other']));
    await buildJob(4, clock.now());
    expect(await jobs.count('waiting')).toBe(2);
    expect(seen).toEqual(['other']);
    clock.advance(60_000);
    await fixture.settle('done', 3);
    expect(seen).toEqual(['other', 'step 1', 'step 4']);
  });

  it('deletes completed jobs of such kinds, and their key is free again', async () => {
    await using fixture = await openJobsFixture(await open());
    const once = defineJob('test.once', z.object({ n: z.int() }), { deleteWhenDone: true });
    const seen: number[] = [];
    using _once = fixture.jobs.handle(once, async ({ payload: { n } }) => void seen.push(n));
    const enqueue = (n: number): Promise<string> =>
      fixture.database.commit((transaction) => fixture.jobs.enqueue(transaction, once, { n }, { key: 'same' }));
    await enqueue(1);
    await vi.waitFor(async () => {
      expect(seen).toEqual([1]);
      expect(await fixture.jobs.list()).toEqual([]);
    });
    await enqueue(2);
    await vi.waitFor(() => expect(seen).toEqual([1, 2]));
    await vi.waitFor(async () =>
      expect(await fixture.metrics.read()).toMatchObject({ 'jobs_finished_total{kind="test.once",outcome="done"}': 2 }),
    );
  });

  if (name === 'sqlite') {
    it('uses one transaction for many ends and none for their starts', async () => {
      const database = await open();
      let marks = 0;
      const mark: Database['mark'] = (work) => {
        marks += 1;
        return database.mark(work);
      };
      await using fixture = await openJobsFixture({ ...database, mark });
      const seen: number[] = [];
      using _stepping = fixture.jobs.handle(step, async ({ payload: { n } }) => void seen.push(n));
      await add(fixture, 'a', 0);
      await fixture.settle('done', 1);
      marks = 0;
      await Promise.all([1, 2, 3, 4, 5].map((n) => add(fixture, 'a', n)));
      await vi.waitFor(() => expect(seen).toEqual([0, 1, 2, 3, 4, 5]));
      expect(marks).toBe(0);
      await fixture.settle('done', 6);
      expect(marks).toBe(1);
    });

    it('finds due jobs behind running ones', async () => {
      const database = await open();
      const hold = { next: false, isHeld: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() };
      const mark: Database['mark'] = async (work) => {
        if (hold.next) {
          hold.next = false;
          hold.isHeld.resolve();
          await hold.go.promise;
        }
        return database.mark(work);
      };
      await using fixture = await openJobsFixture({ ...database, mark });
      const pair = defineJob('test.pair', z.object({ key: z.string(), n: z.int() }), { ...limits, concurrency: 2 });
      const ends = new Map<number, () => void>();
      const begun: number[] = [];
      using _working = fixture.jobs.handle(pair, async ({ payload: { n }, signal }) => {
        begun.push(n);
        if (n === 0) return;
        await new Promise<void>((resolve) => {
          ends.set(n, resolve);
          signal.addEventListener('abort', () => resolve());
        });
      });
      const enqueue = (key: string, n: number) =>
        database.commit((transaction) => fixture.jobs.enqueue(transaction, pair, { key, n }, { orderKey: key }));
      await enqueue('first', 0);
      await fixture.settle('done', 1);
      await enqueue('chain', 1);
      await vi.waitFor(() => expect(begun).toEqual([0, 1]));
      await enqueue('chain', 2);
      await enqueue('other', 10);
      await vi.waitFor(() => expect(begun).toEqual([0, 1, 10]));
      await enqueue('third', 11);
      hold.next = true;
      ends.get(10)?.();
      await hold.isHeld.promise;
      // The table has neither this end nor the start of its successor: it shows the first job as due.
      ends.get(1)?.();
      await vi.waitFor(() => expect(begun).toEqual([0, 1, 10, 2]));
      hold.go.resolve();
      await vi.waitFor(() => expect(begun).toEqual([0, 1, 10, 2, 11]));
    });
  }
});
