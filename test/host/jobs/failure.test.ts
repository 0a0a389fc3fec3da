import * as hostProblems from '#messages/host-problems';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../main/host/database/open.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { getLanguage } from '../../../messages/language.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const Payload = z.object({ n: z.int() });
const deliver = defineJob('test.deliver', Payload);
const createTemporaryProblem = () => new Problem('test.away', 503, 'It does not answer.');

const untilAttempt = (fixture: JobsFixture, attempts: number) =>
  vi.waitFor(async () => {
    const [job] = await fixture.jobs.list({ state: 'waiting' });
    if (job?.attempts !== attempts) throw new Error('not yet');
    return job;
  });

eachDialect((_name, open, createLocation) => {
  it('retries a failed job after growing delays with 20 % variation', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    using _delivering = jobs.handle(deliver, () => Promise.reject(createTemporaryProblem()));
    await jobs.enqueue(database.kysely, deliver, { n: 1 });
    const waits = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 3_600_000];
    for (const [index, wait] of waits.entries()) {
      const job = await untilAttempt(fixture, index + 1);
      expect(job.lastError).toBe('It does not answer.');
      expect(job.runAt - clock.now()).toBeGreaterThanOrEqual(wait * 0.8);
      expect(job.runAt - clock.now()).toBeLessThanOrEqual(wait * 1.2);
      clock.advance(job.runAt - clock.now());
    }
  });

  it('runs and stores the failure in English, whatever the language of the request', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    using _delivering = jobs.handle(deliver, () =>
      Promise.reject(new Problem('test.refused', 422, `Refused in ${getLanguage()}.`)),
    );
    await runInLanguage({ language: 'de', locale: 'de' }, () =>
      database.commit((transaction) => jobs.enqueue(transaction, deliver, { n: 1 })),
    );
    expect(await fixture.one('dead')).toMatchObject({ lastError: 'Refused in en.' });
  });

  it('succeeds eventually', async () => {
    await using fixture = await openJobsFixture(await open());
    using _delivering = fixture.jobs.handle(deliver, async ({ attempt }) => {
      if (attempt < 3) throw createTemporaryProblem();
    });
    await fixture.jobs.enqueue(fixture.database.kysely, deliver, { n: 1 });
    await untilAttempt(fixture, 1);
    fixture.clock.advance(6_000);
    await untilAttempt(fixture, 2);
    fixture.clock.advance(18_000);
    expect(await fixture.one('done')).toMatchObject({ attempts: 3, lastError: null });
  });

  it('waits as long as the destination requests', async () => {
    await using fixture = await openJobsFixture(await open());
    using _delivering = fixture.jobs.handle(deliver, () =>
      Promise.reject(new Problem('test.slow_down', 429, 'Slow down.', { retryAfterMs: 77_000 })),
    );
    await fixture.jobs.enqueue(fixture.database.kysely, deliver, { n: 1 });
    expect((await untilAttempt(fixture, 1)).runAt).toBe(fixture.clock.now() + 77_000);
  });

  it.each([
    ['the host', {}, ['job failed permanently']],
    ['what logs its own', { logsDead: true }, ['given up']],
  ] as const)('logs a failure once, by %s', async (_case, options, expected) => {
    const messages: string[] = [];
    const warn = (message: string): void => void messages.push(message);
    await using fixture = await openJobsFixture(await open(), { log: { ...silentLog, warn } });
    const onDead = vi.fn(() => void ('logsDead' in options && warn('given up')));
    const fails = (): Promise<never> => Promise.reject(new Problem('test.gone', 410, 'There is no such address.'));
    using _delivering = fixture.jobs.handle(deliver, fails, { onDead, ...options });
    await fixture.jobs.enqueue(fixture.database.kysely, deliver, { n: 1 });
    await vi.waitFor(() => expect(onDead).toHaveBeenCalledTimes(1));
    await vi.waitFor(async () =>
      expect((await fixture.metrics.read())['jobs_finished_total{kind="test.deliver",outcome="dead"}']).toBe(1),
    );
    expect(messages).toEqual(expected);
  });

  it('reports a final failure as a dead letter once', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    const onDead = vi.fn();
    using _delivering = jobs.handle(
      deliver,
      () => Promise.reject(new Problem('test.gone', 410, 'There is no such address.')),
      { onDead },
    );
    const id = await jobs.enqueue(database.kysely, deliver, { n: 7 }, { key: 'k' });
    expect(await fixture.one('dead')).toMatchObject({ id, attempts: 1, lastError: 'There is no such address.' });
    await vi.waitFor(() => expect(onDead).toHaveBeenCalledTimes(1));
    const expected = {
      id,
      key: 'k',
      payload: { n: 7 },
      attempt: 1,
      hasSuccessors: false,
      createdAt: fixture.clock.now(),
    };
    expect(onDead).toHaveBeenCalledWith(expected, 'There is no such address.');
  });

  it('reports a dead letter whose commit seemed to fail', async () => {
    const database = await open();
    let fail = false;
    const lost: Database['commit'] = async (work) => {
      const value = await database.commit(work);
      if (!fail) return value;
      fail = false;
      throw new Problem('database.unreachable', 503, 'The database server does not answer.');
    };
    await using fixture = await openJobsFixture({ ...database, commit: lost });
    const onDead = vi.fn();
    const failGone = (): never => {
      fail = true;
      throw new Problem('test.gone', 410, 'It is gone.', { retryable: false });
    };
    using _delivering = fixture.jobs.handle(deliver, async () => failGone(), { onDead });
    await fixture.jobs.enqueue(database.kysely, deliver, { n: 1 });
    await vi.waitFor(() => {
      fixture.clock.advance(1_000);
      expect(onDead).toHaveBeenCalledTimes(1);
    });
    await fixture.jobs.flush();
    expect(onDead).toHaveBeenCalledTimes(1);
  });

  it('reports a dead letter until it succeeds, also after a crash', async () => {
    const location = createLocation();
    const handler = async ({ payload: { n } }: { readonly payload: { readonly n: number } }): Promise<void> => {
      if (n === 1) throw new Problem('test.gone', 410, 'It is gone.', { retryable: false });
    };
    const onDead = vi.fn(() => Promise.reject(new Error('This host ends first.')));
    const first = await openJobsFixture(await open(location));
    first.jobs.handle(deliver, handler, { onDead });
    const id = await first.jobs.enqueue(first.database.kysely, deliver, { n: 1 }, { key: 'one' });
    await vi.waitFor(() => expect(onDead).toHaveBeenCalledTimes(1));
    await first[Symbol.asyncDispose]();

    const listener = vi.fn();
    for (const hours of [1, 2]) {
      const clock = createFakeClock();
      clock.advance(hours * 3_600_000);
      await using fixture = await openJobsFixture(await open(location), { clock });
      fixture.jobs.handle(deliver, handler, { onDead: listener });
      await fixture.jobs.enqueue(fixture.database.kysely, deliver, { n: 2 });
      await fixture.settle('done', hours);
      await vi.waitFor(() => expect(listener).toHaveBeenCalledTimes(1));
    }
    const attempt = { id, key: 'one', payload: { n: 1 }, attempt: 1 };
    expect(listener).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(attempt), 'It is gone.');
  });

  it('gives up on a job that is too old', async () => {
    await using fixture = await openJobsFixture(await open());
    const brief = defineJob('test.brief', Payload, { maxAgeMs: 10_000, backoffMs: [6_000] });
    using _briefly = fixture.jobs.handle(brief, () => Promise.reject(createTemporaryProblem()));
    await fixture.jobs.enqueue(fixture.database.kysely, brief, { n: 1 });
    await untilAttempt(fixture, 1);
    fixture.clock.advance(8_000);
    await untilAttempt(fixture, 2);
    fixture.clock.advance(8_000);
    expect(await fixture.one('dead')).toMatchObject({ attempts: 3 });
  });

  it('hides the message of an unexpected error in the list', async () => {
    const logged: unknown[] = [];
    const note = (_message: string, fields?: Record<string, unknown>) => void logged.push(fields?.['error']);
    await using fixture = await openJobsFixture(await open(), {
      log: { debug() {}, info: note, warn() {}, error() {} },
    });
    using _delivering = fixture.jobs.handle(deliver, () => Promise.reject(new TypeError('https://user:secret@host/')));
    await fixture.jobs.enqueue(fixture.database.kysely, deliver, { n: 1 });
    const job = await untilAttempt(fixture, 1);
    expect(job.lastError).toBe(hostProblems.jobFailed({ error: 'TypeError' }));
    await vi.waitFor(() => expect(logged).toContainEqual(expect.any(TypeError)));
  });

  it('aborts a slow attempt and counts it as failed', async () => {
    await using fixture = await openJobsFixture(await open());
    const slow = defineJob('test.slow', Payload, { timeoutMs: 1_000 });
    const aborted: unknown[] = [];
    using _slowly = fixture.jobs.handle(slow, ({ signal }) => {
      signal.addEventListener('abort', () => aborted.push(signal.reason));
      // Ignores the abort, and must not block the slot.
      return new Promise(() => undefined);
    });
    await fixture.jobs.enqueue(fixture.database.kysely, slow, { n: 1 });
    await fixture.settle('running', 1);
    fixture.clock.advance(1_000);
    expect((await untilAttempt(fixture, 1)).lastError).toBe(hostProblems.attemptTimeout({ seconds: 1 }));
    expect(aborted).toMatchObject([{ code: 'jobs.timeout' }]);
  });

  it('runs jobs of an order key sequentially; a failing one delays only its successors', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const seen: string[] = [];
    let broken = true;
    using _delivering = jobs.handle(deliver, async ({ payload: { n } }) => {
      seen.push(`${n} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      if (n === 11 && broken) throw createTemporaryProblem();
      seen.push(`${n} ends`);
    });
    const job = (n: number, orderKey: string) => ({ payload: { n }, orderKey });
    await jobs.enqueueAll(database.kysely, deliver, [job(10, 'a'), job(11, 'a'), job(12, 'a'), job(20, 'b')]);
    await jobs.enqueue(database.kysely, deliver, { n: 13 }, { orderKey: 'a' });
    await jobs.enqueue(database.kysely, deliver, { n: 21 }, { orderKey: 'b' });
    await fixture.settle('done', 3);
    await vi.waitFor(async () => {
      const waiting = await jobs.list({ state: 'waiting' });
      expect(waiting.map(({ attempts }) => attempts)).toEqual([0, 0, 1]);
    });
    expect(seen.filter((line) => line.startsWith('2'))).toEqual(['20 begins', '20 ends', '21 begins', '21 ends']);
    expect(seen.filter((line) => line.startsWith('1'))).toEqual(['10 begins', '10 ends', '11 begins']);
    seen.length = 0;
    broken = false;
    clock.advance(6_000);
    await fixture.settle('done', 6);
    expect(seen).toEqual(['11 begins', '11 ends', '12 begins', '12 ends', '13 begins', '13 ends']);
  });

  it('continues after a failed job that steps aside, and retries it separately', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const seen: string[] = [];
    let broken = true;
    using _delivering = jobs.handle(deliver, async ({ payload: { n }, attempt }) => {
      seen.push(`${n}`);
      if (n === 1 && broken) throw new Problem('test.odd', 500, 'It fails at this.', { stepsAside: attempt === 2 });
    });
    await jobs.enqueueAll(
      database.kysely,
      deliver,
      [1, 2, 3].map((n) => ({ payload: { n }, orderKey: 'a' })),
    );
    await vi.waitFor(async () => expect((await jobs.list()).map(({ attempts }) => attempts).sort()).toEqual([0, 0, 1]));
    expect(seen).toEqual(['1']);
    clock.advance(6_000);
    await fixture.settle('done', 2);
    expect(seen).toEqual(['1', '1', '2', '3']);
    expect(await fixture.one('waiting')).toMatchObject({ attempts: 2, lastError: 'It fails at this.' });
    await jobs.enqueue(database.kysely, deliver, { n: 4 }, { orderKey: 'a' });
    await fixture.settle('done', 3);
    broken = false;
    clock.advance(18_000);
    await fixture.settle('done', 4);
    expect(seen.slice(4)).toEqual(['4', '1']);
  });

  it('continues after a dead letter and a dropped job', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    const seen: number[] = [];
    using _delivering = jobs.handle(deliver, async ({ payload: { n } }) => {
      seen.push(n);
      if (n === 1) throw new Problem('test.gone', 410, 'Gone.');
      if (n === 2) throw createTemporaryProblem();
    });
    const enqueue = (n: number) => jobs.enqueue(database.kysely, deliver, { n }, { orderKey: 'a' });
    await enqueue(1);
    const second = await enqueue(2);
    await enqueue(3);
    await vi.waitFor(async () => expect((await jobs.list()).find(({ id }) => id === second)?.attempts).toBe(1));
    await fixture.settle('waiting', 2);
    expect(seen).toEqual([1, 2]);
    expect(await jobs.drop(second)).toBe(true);
    await fixture.settle('done', 1);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('does not hold jobs behind one that was not stored because of its key', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    using _delivering = jobs.handle(deliver, async () => undefined);
    await jobs.enqueue(database.kysely, deliver, { n: 1 }, { key: 'k', orderKey: 'a' });
    await fixture.settle('done', 1);
    await jobs.enqueueAll(database.kysely, deliver, [
      { payload: { n: 1 }, key: 'k', orderKey: 'a' },
      { payload: { n: 2 }, orderKey: 'a' },
    ]);
    await fixture.settle('done', 2);
  });

  it('lists, retries and drops dead letters', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    let broken = true;
    using _delivering = jobs.handle(deliver, async () => {
      if (broken) throw new Problem('test.gone', 410, 'Gone.');
    });
    const [first, second] = [
      await jobs.enqueue(database.kysely, deliver, { n: 1 }),
      await jobs.enqueue(database.kysely, deliver, { n: 2 }, { key: 'k' }),
    ];
    await fixture.settle('dead', 2);
    expect((await jobs.list({ state: 'dead', kind: 'test.deliver' })).map(({ id }) => id)).toEqual([second, first]);
    expect(await jobs.list({ state: 'dead', limit: 1 })).toHaveLength(1);
    expect(await jobs.list({ kind: 'test.other' })).toEqual([]);
    broken = false;
    expect(await jobs.retry(first)).toBe(true);
    expect(await fixture.one('done')).toMatchObject({ id: first, attempts: 2 });
    expect(await jobs.drop(second)).toBe(true);
    expect(await jobs.count('dead')).toBe(0);
    for (const id of [first, second, '', 'x', '-1', '99999999999999999999']) {
      expect(await jobs.retry(id)).toBe(false);
      expect(await jobs.drop(id)).toBe(false);
    }
  });

  it('makes a waiting job due on a manual retry', async () => {
    await using fixture = await openJobsFixture(await open());
    using _delivering = fixture.jobs.handle(deliver, async ({ attempt }) => {
      if (attempt === 1) throw createTemporaryProblem();
    });
    const id = await fixture.jobs.enqueue(fixture.database.kysely, deliver, { n: 1 });
    await untilAttempt(fixture, 1);
    expect(await fixture.jobs.retry(id)).toBe(true);
    await fixture.settle('done', 1);
  });

  it('retries the first job of an order key early without counting the attempt', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, clock } = fixture;
    const seen: number[] = [];
    let broken = true;
    using _delivering = jobs.handle(deliver, async ({ payload: { n } }) => {
      seen.push(n);
      if (broken) throw createTemporaryProblem();
    });
    const job = (n: number, orderKey: string, more = {}) => ({ payload: { n }, orderKey, ...more });
    const later = { runAt: clock.now() + 3_600_000 };
    await jobs.enqueueAll(database.kysely, deliver, [job(1, 'a'), job(2, 'a'), job(3, 'b', later)]);
    const waiting = async (attempts: number) => {
      await vi.waitFor(async () => expect((await jobs.list({ state: 'waiting' })).at(-1)).toMatchObject({ attempts }));
      return (await jobs.list({ state: 'waiting' })).map(({ runAt }) => runAt - clock.now());
    };
    const [, second, first = 0] = await waiting(1);
    expect([first > 0, second]).toEqual([true, first]);
    clock.advance(3_000);
    expect(await jobs.retryNow(deliver, 'a')).toBe(true);
    await vi.waitFor(() => expect(seen).toEqual([1, 1]));
    const [, , again] = await waiting(1);
    expect(again).toBeGreaterThanOrEqual(4_000);
    expect(again).toBeLessThanOrEqual(6_000);
    // A job without attempts waits for its time; without failed jobs there is nothing to retry.
    expect([await jobs.retryNow(deliver, 'b'), await jobs.retryNow(deliver, 'c')]).toEqual([false, false]);
    broken = false;
    expect(await jobs.retryNow(deliver, 'a')).toBe(true);
    await fixture.settle('done', 2);
    expect(seen).toEqual([1, 1, 1, 2]);
  });

  it('counts waiting, dead and completed jobs', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database, metrics } = fixture;
    using _delivering = jobs.handle(deliver, async ({ payload: { n } }) => {
      if (n === 2) throw createTemporaryProblem();
      if (n === 3) throw new Problem('test.gone', 410, 'Gone.');
    });
    const series = (outcome: string) => `jobs_finished_total{kind="test.deliver",outcome="${outcome}"}`;
    expect(await metrics.read()).toEqual({
      jobs_waiting: 0,
      jobs_dead: 0,
      [series('done')]: 0,
      [series('retried')]: 0,
      [series('dead')]: 0,
    });
    await jobs.enqueueAll(
      database.kysely,
      deliver,
      [1, 2, 3].map((n) => ({ payload: { n } })),
    );
    await vi.waitFor(async () =>
      expect(await metrics.read()).toEqual({
        jobs_waiting: 1,
        jobs_dead: 1,
        [series('done')]: 1,
        [series('retried')]: 1,
        [series('dead')]: 1,
      }),
    );
  });
});
