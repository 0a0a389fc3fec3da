// Started by chain.test.ts as a separate process: processes the jobs of one order key and records each of them.
import { appendFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { openDatabase } from '../../../main/host/database/open.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { silentLog, type DatabaseLocation } from '../../support/database-location.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const {
  location,
  file,
  jobs: count,
} = JSON.parse(process.argv[2] ?? '{}') as { location: DatabaseLocation; file: string; jobs: number };
const database = await openDatabase({ ...location, log: silentLog });
const { jobs } = await openJobsFixture(database, { realClock: systemClock });
const link = defineJob('test.link', z.object({ n: z.int() }));
jobs.handle(link, async ({ payload: { n } }) => {
  await nextTurn();
  appendFileSync(file, `${n}\n`);
  if (n === 20) process.stdout.write('under way\n');
});
await database.commit((transaction) =>
  jobs.enqueueAll(
    transaction,
    link,
    Array.from({ length: count }, (_, n) => ({ payload: { n }, orderKey: 'chain' })),
  ),
);
