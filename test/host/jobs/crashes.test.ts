import { expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { eachDialectOnOwnServer } from '../../support/database.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const carry = defineJob('test.carry', z.object({ n: z.int() }));

eachDialectOnOwnServer((name, open, createLocation) => {
  // Several hosts share PostgreSQL, where leases decide.
  it.runIf(name === 'sqlite')(
    'reports a job as dead that was running when each of five processes crashed',
    async () => {
      const location = createLocation();
      const ran: number[] = [];
      const database = await open(location);
      for (let start = 0; start < 5; start += 1) {
        await using fixture = await openJobsFixture(database, { realClock: systemClock, isAfterCrash: true });
        if (start === 0) await fixture.jobs.enqueue(database.kysely, carry, { n: 1 });
        expect(await fixture.jobs.count('waiting')).toBe(1);
        // As a process leaves the row when it ends in the middle of the job.
        const row = { state: 'running', attempts: start + 1, lease_owner: 'former', lease_until: 1 };
        await database.kysely.updateTable('jobs').set(row).execute();
      }
      const dead: string[] = [];
      await using fixture = await openJobsFixture(database, { realClock: systemClock, isAfterCrash: true });
      fixture.jobs.handle(carry, async ({ payload }) => void ran.push(payload.n), {
        onDead: async (_attempt, reason) => void dead.push(reason),
      });
      await fixture.settle('dead', 1);
      await expect.poll(() => dead).toEqual([expect.stringContaining('stopped unexpectedly 5 times')]);
      expect(ran).toEqual([]);
    },
  );

  it.runIf(name === 'sqlite')('keeps a job that was running when processes were killed', async () => {
    const location = createLocation();
    const ran: number[] = [];
    const database = await open(location);
    for (let start = 0; start < 20; start += 1) {
      await using fixture = await openJobsFixture(database, { realClock: systemClock });
      if (start === 0) await fixture.jobs.enqueue(database.kysely, carry, { n: 1 });
      const row = { state: 'running', attempts: start + 1, lease_owner: 'former', lease_until: 1 };
      await database.kysely.updateTable('jobs').set(row).execute();
    }
    await using fixture = await openJobsFixture(database, { realClock: systemClock });
    fixture.jobs.handle(carry, async ({ payload }) => void ran.push(payload.n));
    await fixture.settle('done', 1);
    expect(ran).toEqual([1]);
  });
});
