import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { leaseOwner } from '../../../main/host/jobs/owner.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { startChild } from '../../support/child.ts';
import { createFakeClock } from '../../support/clock.ts';
import { eachDialectOnOwnServer } from '../../support/database.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const carry = defineJob('test.carry', z.object({ n: z.int() }));
const never = () => new Promise<never>(() => undefined);

/** Runs until it is aborted. */
const untilAborted =
  (aborted: () => void) =>
  ({ signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted();
        reject(signal.reason as Error);
      });
    });

/** Assigns a running job to a process of another computer. */
const giveAway = (fixture: JobsFixture) =>
  fixture.database.kysely
    .updateTable('jobs')
    .set({ lease_owner: 'elsewhere/boot/1|1|1|abc' })
    .where('state', '=', 'running')
    .execute();

eachDialectOnOwnServer((name, open, createLocation, server) => {
  it('resumes jobs of a killed process immediately', async () => {
    const location = createLocation();
    await using child = startChild(import.meta.resolve('./working.ts'), location);
    await child.waitForLine('running');
    await child.kill();
    await using fixture = await openJobsFixture(await open(location), { realClock: systemClock });
    const seen: number[] = [];
    using _carrying = fixture.jobs.handle(carry, async ({ attempt }) => void seen.push(attempt));
    await fixture.settle('done', 1);
    expect(seen).toEqual([2]);
  });

  it('releases running jobs on stop without counting the attempt', async () => {
    const location = createLocation();
    const first = await openJobsFixture(await open(location));
    const aborted = vi.fn();
    first.jobs.handle(carry, untilAborted(aborted));
    await first.jobs.enqueue(first.database.kysely, carry, { n: 1 });
    await first.settle('running', 1);
    await first[Symbol.asyncDispose]();
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(await first.one('waiting')).toMatchObject({ attempts: 0, lastError: null });

    await using second = await openJobsFixture(await open(location));
    using _carrying = second.jobs.handle(carry, async ({ attempt }) => expect(attempt).toBe(1));
    await second.settle('done', 1);
  });

  it('counts a job that finishes during the stop as done', async () => {
    const fixture = await openJobsFixture(await open());
    fixture.jobs.handle(carry, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    await fixture.jobs.enqueue(fixture.database.kysely, carry, { n: 1 });
    await fixture.settle('running', 1);
    await fixture[Symbol.asyncDispose]();
    expect(await fixture.jobs.count('done')).toBe(1);
  });

  it('stops despite a handler that ignores the abort', async () => {
    const fixture = await openJobsFixture(await open());
    fixture.jobs.handle(carry, never);
    await fixture.jobs.enqueue(fixture.database.kysely, carry, { n: 1 });
    await fixture.settle('running', 1);
    const stopped = fixture[Symbol.asyncDispose]();
    await vi.waitFor(async () => {
      fixture.clock.advance(4_000);
      expect(await fixture.jobs.count('waiting')).toBe(1);
    });
    await stopped;
  });

  it('stops despite a commit on a hanging disk and starts none of its jobs', async () => {
    const database = await open();
    const hanging = new Promise<boolean>(() => undefined);
    const fixture = await openJobsFixture({ ...database, settling: () => hanging });
    await database.commit((transaction) => fixture.jobs.enqueue(transaction, carry, { n: 1 }));
    const handler = vi.fn(never);
    fixture.jobs.handle(carry, handler);
    await vi.waitFor(async () => {
      const { rows } = await sql<{ state: string }>`select state from jobs`.execute(database.kysely);
      expect(rows).toEqual([{ state: 'running' }]);
    });
    const stopped = fixture[Symbol.asyncDispose]();
    await vi.waitFor(async () => {
      fixture.clock.advance(4_000);
      expect(await fixture.jobs.count('waiting')).toBe(1);
    });
    await stopped;
    expect(handler).not.toHaveBeenCalled();
  });

  if (name === 'sqlite') {
    it('resumes jobs of an earlier boot or container immediately', async () => {
      const location = createLocation();
      const first = await openJobsFixture(await open(location));
      first.jobs.handle(carry, never);
      await first.jobs.enqueue(first.database.kysely, carry, { n: 1 });
      await first.settle('running', 1);
      await giveAway(first);
      await using second = await openJobsFixture(await open(location));
      using _carrying = second.jobs.handle(carry, async () => undefined);
      await second.settle('done', 1);
    });
  } else {
    it('does not claim jobs of a running process', async () => {
      const location = createLocation();
      await using child = startChild(import.meta.resolve('./working.ts'), location);
      await child.waitForLine('running');
      await using fixture = await openJobsFixture(await open(location), { realClock: systemClock });
      const handler = vi.fn(async () => undefined);
      using _carrying = fixture.jobs.handle(carry, handler);
      await delay(50);
      expect(await fixture.jobs.count('running')).toBe(1);
      expect(handler).not.toHaveBeenCalled();
    });

    it('renews leases of running jobs and takes over expired ones', async () => {
      const location = createLocation();
      const clock = createFakeClock();
      await using one = await openJobsFixture(await open(location), { clock });
      const long = defineJob('test.carry', z.object({ n: z.int() }), { timeoutMs: 3_600_000 });
      const aborted = vi.fn();
      const onlyOnce = one.jobs.handle(long, untilAborted(aborted));
      await one.jobs.enqueue(one.database.kysely, long, { n: 1 });
      await one.settle('running', 1);
      onlyOnce[Symbol.dispose]();

      await using two = await openJobsFixture(await open(location), { clock });
      const handler = vi.fn(async () => undefined);
      using _two = two.jobs.handle(long, handler);
      for (let minute = 0; minute < 9; minute += 1) {
        clock.advance(20_000);
        // The renewal must be stored before the clock advances.
        await vi.waitFor(async () => {
          const rows = await one.database.kysely.selectFrom('jobs').select('lease_until').execute();
          expect(rows).toEqual([{ lease_until: clock.now() + 60_000 }]);
        });
      }
      expect(handler).not.toHaveBeenCalled();

      await giveAway(one);
      await vi.waitFor(async () => {
        clock.advance(20_000);
        expect(await two.jobs.count('done')).toBe(1);
      });
      expect(handler).toHaveBeenCalledTimes(1);
      await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1));
    });

    it('aborts an attempt whose lease another worker has', async () => {
      await using fixture = await openJobsFixture(await open());
      const aborted = vi.fn();
      using _carrying = fixture.jobs.handle(carry, untilAborted(aborted));
      await fixture.jobs.enqueue(fixture.database.kysely, carry, { n: 1 });
      await fixture.settle('running', 1);
      // Owned by this process, hence alive.
      const otherLease = { lease_owner: leaseOwner('another'), lease_until: fixture.clock.now() + 3_600_000 };
      await fixture.database.kysely.updateTable('jobs').set(otherLease).execute();
      fixture.clock.advance(20_000);
      await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1));
      expect(await fixture.one('running')).toMatchObject({ attempts: 1 });
    });

    it('shares work among replicas without running a job or order key twice', async () => {
      const location = createLocation();
      const fixtures = await Promise.all(
        [1, 2, 3].map(async () => openJobsFixture(await open(location), { realClock: systemClock })),
      );
      const work = defineJob('test.work', z.object({ n: z.int(), order: z.string() }), { concurrency: 8 });
      const runs: number[] = [];
      const jobCounts = fixtures.map(() => 0);
      const busy = new Set<string>();
      const overlaps: string[] = [];
      for (const [index, fixture] of fixtures.entries()) {
        fixture.jobs.handle(work, async ({ payload: { n, order } }) => {
          if (busy.has(order)) overlaps.push(order);
          busy.add(order);
          runs.push(n);
          jobCounts[index] = (jobCounts[index] ?? 0) + 1;
          await delay(1);
          busy.delete(order);
        });
      }
      await Promise.all(
        Array.from({ length: 300 }, (_, n) => {
          const fixture = fixtures[n % fixtures.length] as JobsFixture;
          const order = n % 3 === 0 ? `own ${n}` : `shared ${n % 7}`;
          return fixture.database.commit((transaction) =>
            fixture.jobs.enqueue(transaction, work, { n, order }, { orderKey: order }),
          );
        }),
      );
      await fixtures[0]?.settle('done', 300);
      expect([...runs].sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, n) => n));
      expect(overlaps).toEqual([]);
      expect(jobCounts.filter((count) => count > 0).length).toBeGreaterThan(1);
      for (const fixture of fixtures) await fixture[Symbol.asyncDispose]();
    });

    it('continues after the database was unreachable', async () => {
      await using fixture = await openJobsFixture(await open(), { realClock: systemClock });
      let finish: () => void = () => undefined;
      const handler = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
      using _carrying = fixture.jobs.handle(carry, handler);
      await fixture.jobs.enqueue(fixture.database.kysely, carry, { n: 1 });
      await fixture.settle('running', 1);
      await server().kill();
      finish();
      await delay(100);
      await server().restart();
      await fixture.settle('done', 1);
      expect(handler).toHaveBeenCalledTimes(1);
    });
  }
});
