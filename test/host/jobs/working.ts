// Started by lease.test.ts as a separate process: claims a job and never finishes it.
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { openDatabase } from '../../../main/host/database/open.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { silentLog, type DatabaseLocation } from '../../support/database-location.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const location = JSON.parse(process.argv[2] ?? '{}') as DatabaseLocation;
const database = await openDatabase({ ...location, log: silentLog });
const { jobs } = await openJobsFixture(database, { realClock: systemClock });
const carry = defineJob('test.carry', z.object({ n: z.int() }));
jobs.handle(carry, async () => {
  process.stdout.write('running\n');
  await new Promise(() => setInterval(() => undefined, 60_000));
});
await database.commit((transaction) => jobs.enqueue(transaction, carry, { n: 1 }));
