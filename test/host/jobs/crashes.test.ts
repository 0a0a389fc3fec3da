import { expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { eachDialectOnOwnServer } from '../../support/database.ts';
import { openRoom } from './jobs-fixture.ts';

const carry = defineJob('test.carry', z.object({ n: z.int() }));

eachDialectOnOwnServer((name, open, newPlace) => {
  // Several hosts share PostgreSQL, where leases decide.
  it.runIf(name === 'sqlite')('reports a job as dead that was running in five processes that ended', async () => {
    const place = newPlace();
    const ran: number[] = [];
    const database = await open(place);
    for (let start = 0; start < 5; start += 1) {
      await using room = await openRoom(database, { realClock: systemClock });
      if (start === 0) await room.jobs.enqueue(database.kysely, carry, { n: 1 });
      expect(await room.jobs.count('waiting')).toBe(1);
      // As a process leaves the row when it ends in the middle of the job.
      const row = { state: 'running', attempts: start + 1, lease_owner: 'former', lease_until: 1 };
      await database.kysely.updateTable('jobs').set(row).execute();
    }
    const dead: string[] = [];
    await using room = await openRoom(database, { realClock: systemClock });
    room.jobs.handle(carry, async ({ payload }) => void ran.push(payload.n), {
      onDead: async (_attempt, reason) => void dead.push(reason),
    });
    await room.settle('dead', 1);
    await expect.poll(() => dead).toEqual([expect.stringContaining('ended unexpectedly 5 times')]);
    expect(ran).toEqual([]);
  });
});
