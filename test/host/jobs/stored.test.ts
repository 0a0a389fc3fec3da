import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { jobsMigrations } from '../../../main/host/jobs/jobs.ts';
import { openDatabase } from '../../../main/host/database/open.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { openJobsFixture } from './jobs-fixture.ts';

/**
 * State that a killed host of November 2026 left: a finished job, a dead letter, a job that waits for its next attempt
 * with a follower, a running job with a follower, and a job whose end is only in the journal.
 */
const none = { job_key: null, order_key: null, held: 0, finished_at: null, lease_owner: null, lease_until: null };
const newJob = { ...none, kind: 'test.sample', state: 'waiting', attempts: 0, last_error: null };
const rows = [
  {
    ...newJob,
    state: 'done',
    payload: 'null',
    attempts: 1,
    at: [1795400975050, 1795400975050],
    finished_at: 1795400975630,
  },
  {
    ...{ ...newJob, state: 'dead', payload: '{"n":2}', attempts: 1, at: [1795400975632, 1795400975632] },
    ...{ finished_at: 1795400975738, last_error: 'Gone.' },
  },
  {
    ...newJob,
    payload: '{"n":3}',
    order_key: 'a',
    attempts: 1,
    at: [1795400975973, 1795400981063],
    last_error: 'Away.',
  },
  { ...newJob, payload: '{"n":4}', order_key: 'a', held: 1, at: [1795400976006, 1795400976006] },
  {
    ...{ ...newJob, state: 'running', payload: '{"n":5}', order_key: 'b', attempts: 1 },
    ...{ at: [1795400976159, 1795400976159], lease_until: 1795401036251 },
    lease_owner: 'vm/fa3863f5-0560-4a94-8df1-fe17968381f4/pid:[4026531836]|4391|1795400961680|gZYqp0Sh',
  },
  { ...newJob, payload: '{"n":6}', job_key: 'k', order_key: 'b', held: 1, at: [1795400976221, 1795400976221] },
  { ...newJob, payload: '{"n":7}', order_key: 'c', at: [1795400976746, 1795400976746] },
].map(({ at: [created_at, run_at], ...row }, index) => ({ id: index + 1, ...row, created_at, run_at }));
const journal = '\n{"id":7,"kind":"test.sample","created":1795400976746,"result":{"n":7}}';

it('continues with the table and journal of an earlier version', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stored-'));
  try {
    await using database = await openDatabase({ folder, schema: '', log: silentLog });
    await database.migrate(jobsMigrations);
    await database.kysely.insertInto('jobs').values(rows).execute();
    writeFileSync(join(folder, 'db.ended-1'), journal);
    const clock = createFakeClock(1_795_400_980_000);
    await using fixture = await openJobsFixture(database, { clock });
    const sample = defineJob('test.sample', z.object({ n: z.int() }));
    const handled: [number, number][] = [];
    const recorded: number[] = [];
    using _working = fixture.jobs.handle(
      sample,
      async ({ payload: { n }, attempt }) => {
        handled.push([n, attempt]);
        return { n };
      },
      {
        record: async (_transaction, results) => void recorded.push(...results.map(({ n }) => n)),
        result: z.object({ n: z.int() }),
      },
    );
    await fixture.settle('done', 4);
    expect(handled).toEqual([
      [5, 2],
      [6, 1],
    ]);
    clock.advance(2_000);
    await fixture.settle('done', 6);
    expect(handled.slice(2)).toEqual([
      [3, 2],
      [4, 1],
    ]);
    expect(recorded.toSorted()).toEqual([3, 4, 5, 6, 7]);
    expect(await fixture.one('dead')).toMatchObject({ id: '2', lastError: 'Gone.' });
    const second = await database.commit((transaction) =>
      fixture.jobs.enqueue(transaction, sample, { n: 8 }, { key: 'k' }),
    );
    expect(second).toBe('6');
    await vi.waitFor(() => expect(handled).toHaveLength(4));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
