import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openDatabase, type Database } from '../../../main/host/database/open.ts';
import { ReadThread } from '../../../main/host/database/reads/thread.ts';
import { jobsMigrations } from '../../../main/host/jobs/jobs.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { defineJob } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';
import { openJobsFixture } from './jobs-fixture.ts';

const deliver = defineJob('test.deliver', z.object({ n: z.int() }));
const many = 6_000;
const everyKey = { kind: deliver.name, limit: 200_000 } as const;

async function fill(database: Database): Promise<void> {
  await database.migrate(jobsMigrations);
  const dead = { kind: deliver.name, state: 'dead', payload: '{"n":0}', attempts: 1, created_at: 0, run_at: 0 };
  const rows = Array.from({ length: many }, (_, index) => ({ ...dead, job_key: `k${String(index)}` }));
  const others = [
    { ...dead, job_key: null },
    { ...dead, job_key: 'other', kind: 'test.other' },
    { ...dead, job_key: 'waits', state: 'waiting', order_key: 'line' },
    { ...dead, job_key: 'behind', state: 'waiting', order_key: 'line' },
  ];
  for (let start = 0; start < many; start += 1_000) {
    await database.kysely
      .insertInto('jobs')
      .values(rows.slice(start, start + 1_000))
      .execute();
  }
  for (const row of others) await database.kysely.insertInto('jobs').values(row).execute();
}

eachDialect((_name, open) => {
  it('lists the keys of all jobs of a kind and state, newest first', async () => {
    const database = await open();
    await fill(database);
    await using fixture = await openJobsFixture(database);
    const { jobs } = fixture;
    const dead = await jobs.keys({ ...everyKey, state: 'dead' });
    expect(dead).toEqual(Array.from({ length: many }, (_, index) => `k${String(many - 1 - index)}`));
    expect(await jobs.keys({ ...everyKey, state: 'dead', limit: 2 })).toEqual(dead.slice(0, 2));
    expect(await jobs.keys({ ...everyKey, state: 'waiting' })).toEqual(['behind', 'waits']);
    expect(await jobs.keys({ ...everyKey, kind: 'test.other', state: 'dead' })).toEqual(['other']);
    expect(await jobs.keys({ ...everyKey, state: 'done' })).toEqual([]);
  });

  it('updates the keys after failures, retries and drops', async () => {
    await using fixture = await openJobsFixture(await open());
    const { jobs, database } = fixture;
    let broken = true;
    using _delivering = jobs.handle(deliver, async () => {
      if (broken) throw new Problem('test.gone', 410, 'Gone.');
    });
    const keys = () => jobs.keys({ ...everyKey, state: 'dead' });
    const [first, second] = [
      await jobs.enqueue(database.kysely, deliver, { n: 1 }, { key: 'a' }),
      await jobs.enqueue(database.kysely, deliver, { n: 2 }, { key: 'b' }),
    ];
    await vi.waitFor(async () => expect(await keys()).toEqual(['b', 'a']));
    await jobs.drop(second);
    expect(await keys()).toEqual(['a']);
    broken = false;
    await jobs.retry(first);
    expect(await keys()).toEqual([]);
  });
});

it('reads keys and long lists outside of the event loop', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  try {
    await using readThread = new ReadThread({ clock: systemClock, log: silentLog });
    const read = vi.spyOn(readThread, 'read');
    await using database = await openDatabase({ folder, schema: 'test', log: silentLog, readThread });
    await fill(database);
    await using fixture = await openJobsFixture(database);
    expect(await fixture.jobs.keys({ ...everyKey, state: 'dead' })).toHaveLength(many);
    expect(read).toHaveBeenCalledOnce();
    expect(await fixture.jobs.list({ state: 'dead', limit: many })).toHaveLength(many);
    expect(read).toHaveBeenCalledTimes(2);
    const [newest] = await fixture.jobs.list({ state: 'dead', kind: deliver.name });
    expect(newest).toMatchObject({ kind: deliver.name, state: 'dead', attempts: 1 });
    expect(read, 'a short one costs less than the way to another thread').toHaveBeenCalledTimes(2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
