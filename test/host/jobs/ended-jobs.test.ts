import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openDatabase, type Database } from '../../../main/host/database/open.ts';
import { defineJob, type JobHandlerOptions } from '../../../services/contracts/jobs.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { openJobsFixture, type JobsFixture } from './jobs-fixture.ts';

const count = defineJob('test.count', z.object({ n: z.int() }), { deleteWhenDone: true });
const large = defineJob('test.large', z.object({ n: z.int() }), {
  ...{ timeoutMs: 1e9, deleteWhenDone: true, concurrency: 50 },
});
const Result = z.object({ n: z.int() });

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ended-'));
  open.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const openHere = async (folder: string): Promise<Database> =>
  open.use(await openDatabase({ folder, schema: '', log: silentLog }));

/** Returns the content of the journal. */
const readJournal = (folder: string): string =>
  ['db.ended-1', 'db.ended-2'].map((name) => readFileSync(join(folder, name), 'utf8')).join('');

/** Handles the kind; returns the received and the recorded jobs. */
function work(fixture: JobsFixture, schema: JobHandlerOptions<unknown, z.infer<typeof Result>>['result'] = Result) {
  const handled: number[] = [];
  const recorded: number[] = [];
  const working = fixture.jobs.handle(
    count,
    async ({ payload: { n } }) => {
      handled.push(n);
      return { n: n * 10, secret: 'not for the file' };
    },
    { record: async (_transaction, results) => void recorded.push(...results.map(({ n }) => n)), result: schema },
  );
  return { handled, recorded, working };
}

/**
 * Runs three jobs in a process that ends before the table is updated. The clock is stopped, so the ends remain in the
 * file.
 */
async function createEndedJobs(folder: string): Promise<void> {
  const database = await openHere(folder);
  const fixture = await openJobsFixture(database);
  const { handled } = work(fixture);
  await database.commit((transaction) =>
    fixture.jobs.enqueueAll(
      transaction,
      count,
      [1, 2, 3].map((n) => ({ payload: { n } })),
    ),
  );
  await vi.waitFor(() => expect(handled).toHaveLength(3));
  await vi.waitFor(() => expect(readJournal(folder).trim().split('\n')).toHaveLength(3));
  expect(readJournal(folder)).not.toContain('not for the file');
  // State after the claims of an ended process were released.
  const free = { state: 'waiting', attempts: 0, lease_owner: null, lease_until: null };
  await database.kysely.updateTable('jobs').set(free).execute();
  await database[Symbol.asyncDispose]();
}

it('journals an end immediately and updates the table in batches', async () => {
  const folder = newFolder();
  const clock = createFakeClock();
  await using fixture = await openJobsFixture(await openHere(folder), { clock });
  const { recorded, handled } = work(fixture);
  for (const n of [1, 2, 3]) {
    await fixture.database.commit((transaction) => fixture.jobs.enqueue(transaction, count, { n }));
    await vi.waitFor(() => expect(handled).toHaveLength(n));
  }
  await vi.waitFor(() => expect(readJournal(folder).trim().split('\n')).toHaveLength(3));
  expect(recorded).toEqual([]);
  clock.advance(100);
  await vi.waitFor(() => expect(recorded).toEqual([10, 20, 30]));
  await vi.waitFor(() => expect(readJournal(folder)).toBe(''));
  expect(statSync(join(folder, 'db.ended-1')).mode & 0o777).toBe(0o600);
});

it('resumes journaled ends of an earlier process without repeating jobs', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  await using fixture = await openJobsFixture(await openHere(folder));
  const { handled, recorded } = work(fixture);
  await vi.waitFor(() => expect(recorded.toSorted()).toEqual([10, 20, 30]));
  expect(await fixture.jobs.list()).toEqual([]);
  expect(handled).toEqual([]);
  await vi.waitFor(() => expect(readJournal(folder)).toBe(''));
});

it('resumes entries of both files, also after an incomplete line, and clears them', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  const lines = readJournal(folder).trim().split('\n');
  writeFileSync(join(folder, 'db.ended-1'), `\n${lines[0] ?? ''}\n{"id":9`);
  writeFileSync(join(folder, 'db.ended-2'), `\n${lines[1] ?? ''}\n${lines[2] ?? ''}\n{"id"`);
  const clock = createFakeClock();
  await using fixture = await openJobsFixture(await openHere(folder), { clock });
  const { handled, recorded } = work(fixture);
  await vi.waitFor(() => expect(recorded.toSorted()).toEqual([10, 20, 30]));
  for (const n of [4, 5]) {
    await fixture.database.commit((transaction) => fixture.jobs.enqueue(transaction, count, { n }));
    await vi.waitFor(() => expect(handled).toContain(n));
    await vi.waitFor(() => {
      clock.advance(100);
      expect(recorded).toContain(n * 10);
    });
  }
  expect(handled).toEqual([4, 5]);
  await vi.waitFor(() => expect(readJournal(folder)).toBe(''));
});

it('keeps entries until there is a handler for their kind', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  for (let start = 0; start < 2; start += 1) {
    await using database = await openDatabase({ folder, schema: '', log: silentLog });
    await using fixture = await openJobsFixture(database);
    expect(await fixture.jobs.count('waiting')).toBe(3);
  }
  expect(readJournal(folder).trim().split('\n')).toHaveLength(3);
  await using fixture = await openJobsFixture(await openHere(folder));
  const { handled, recorded } = work(fixture);
  await vi.waitFor(() => expect(recorded).toHaveLength(3));
  expect(handled).toEqual([]);
});

it('journals and clears entries while previous ones of an unknown kind remain', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  const lines = readJournal(folder).trim().split('\n');
  writeFileSync(join(folder, 'db.ended-1'), `\n${lines[0] ?? ''}\n{"id":9`);
  writeFileSync(join(folder, 'db.ended-2'), `\n${lines[1] ?? ''}\n${lines[2] ?? ''}`);
  const remainingNotes = readJournal(folder);
  {
    await using database = await openDatabase({ folder, schema: '', log: silentLog });
    await using fixture = await openJobsFixture(database);
    const text = 'x'.repeat(500_000);
    const recorded: number[] = [];
    using _working = fixture.jobs.handle(large, async ({ payload: { n } }) => ({ n, text }), {
      record: async (_transaction, results) => void recorded.push(...results.map(({ n }) => n)),
      result: z.object({ n: z.int(), text: z.string() }),
    });
    // More than the limit of the file.
    for (let n = 1; n <= 10; n += 1) {
      await database.commit((transaction) => fixture.jobs.enqueue(transaction, large, { n }));
      await vi.waitFor(() => expect(readJournal(folder).length).toBeGreaterThan(text.length));
      expect(recorded).toHaveLength(n - 1);
      fixture.clock.advance(100);
      await vi.waitFor(() => expect(readJournal(folder)).toBe(remainingNotes));
      expect(recorded).toHaveLength(n);
    }
  }
  await using fixture = await openJobsFixture(await openHere(folder));
  const { handled, recorded } = work(fixture);
  await vi.waitFor(() => expect(recorded.toSorted()).toEqual([10, 20, 30]));
  expect(handled).toEqual([]);
  await vi.waitFor(() => expect(readJournal(folder)).toBe(''));
});

it('repeats unreadable entries: an incomplete line, another result format, another row', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  const file = join(
    folder,
    readJournal(folder) === readFileSync(join(folder, 'db.ended-1'), 'utf8') ? 'db.ended-1' : 'db.ended-2',
  );
  const [first = '', second = '', third = ''] = readFileSync(file, 'utf8').trim().split('\n');
  rmSync(file);
  const other = second.replace(/"created":\d+/, '"created":1');
  const strange = third.replace(/"n":30/, '"n":"thirty"');
  appendFileSync(file, `${strange}\n${other}\n${first.slice(0, -4)}`);
  await using fixture = await openJobsFixture(await openHere(folder));
  const { handled, recorded } = work(fixture);
  await vi.waitFor(async () => {
    await fixture.jobs.flush();
    expect(recorded.toSorted()).toEqual([10, 20, 30]);
  });
  expect(handled.toSorted()).toEqual([1, 2, 3]);
});

it('records results that the schema rejects with the mark, and repeats those in the file', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  await using fixture = await openJobsFixture(await openHere(folder));
  const faulty = Result.transform((result) => {
    if (result.n > 10) throw new Error('this schema has a fault');
    return result;
  });
  const { handled, recorded } = work(fixture, faulty);
  await vi.waitFor(async () => {
    await fixture.jobs.flush();
    expect(recorded.toSorted()).toEqual([10, 20, 30]);
  });
  expect(handled.toSorted()).toEqual([2, 3]);
});

it('updates the table immediately when the journal cannot be written', async () => {
  const folder = newFolder();
  const database = await openHere(folder);
  await using fixture = await openJobsFixture(database);
  const long = 'x'.repeat(5 * 1024 * 1024);
  const recorded: number[] = [];
  using _working = fixture.jobs.handle(count, async ({ payload: { n } }) => ({ n, long }), {
    record: async (_transaction, results) => void recorded.push(...results.map(({ n }) => n)),
    result: z.object({ n: z.int(), long: z.string() }),
  });
  const enqueue = (n: number) => database.commit((transaction) => fixture.jobs.enqueue(transaction, count, { n }));
  await enqueue(1);
  await vi.waitFor(() => expect(readJournal(folder).length).toBeGreaterThan(long.length));
  expect(recorded).toEqual([]);
  await enqueue(2);
  await vi.waitFor(() => expect(recorded).toEqual([1, 2]));
  await vi.waitFor(() => expect(readJournal(folder)).toBe(''));
});

it('clears the file under continuous load', async () => {
  const folder = newFolder();
  const database = await openHere(folder);
  const running: (() => void)[] = [];
  let ended = 0;
  const endOne = async (): Promise<void> => {
    const before = ended;
    running.shift()?.();
    await vi.waitFor(() => expect(ended).toBeGreaterThan(before), { interval: 1 });
  };
  /** Another job ends while a turn is stored: the table never contains all ends. */
  const mark: Database['mark'] = async (work) => {
    const value = await database.mark(work);
    if (running.length > 0) await endOne();
    return value;
  };
  await using fixture = await openJobsFixture({ ...database, mark });
  using _working = fixture.jobs.handle(
    large,
    async ({ payload: { n }, signal }) => {
      await new Promise<void>((resolve) => {
        running.push(resolve);
        signal.addEventListener('abort', () => resolve());
      });
      ended += 1;
      return { n, text: 'x'.repeat(500_000) };
    },
    { record: async () => undefined, result: z.object({ n: z.int(), text: z.string() }) },
  );
  const jobs = Array.from({ length: 40 }, (_, n) => ({ payload: { n } }));
  await database.commit((transaction) => fixture.jobs.enqueueAll(transaction, large, jobs));
  await vi.waitFor(() => expect(running).toHaveLength(40));
  const sizes: number[] = [];
  while (running.length > 2) {
    await endOne();
    fixture.clock.advance(100);
    sizes.push(statSync(join(folder, 'db.ended-1')).size);
  }
  for (const end of running.splice(0)) end();
  expect(Math.max(...sizes)).toBeGreaterThan(4 * 1024 * 1024);
  expect(sizes.some((size, index) => size < (sizes[index - 1] ?? 0))).toBe(true);
});

it('does not record entries that were dropped since', async () => {
  const folder = newFolder();
  await createEndedJobs(folder);
  await using fixture = await openJobsFixture(await openHere(folder));
  const [latest] = await fixture.jobs.list();
  expect(await fixture.jobs.drop(latest?.id ?? '')).toBe(true);
  const { handled, recorded } = work(fixture);
  await vi.waitFor(() => expect(readJournal(folder)).toBe(''));
  expect(recorded.toSorted()).toEqual([10, 20]);
  expect(handled).toEqual([]);
});

it('flushes as far as the table allows without blocking callers', async () => {
  const database = await openHere(newFolder());
  let refuses = false;
  const mark: Database['mark'] = (work) =>
    refuses ? Promise.reject(new Problem('database.full', 507, 'The disk is full.')) : database.mark(work);
  const clock = createFakeClock();
  await using fixture = await openJobsFixture({ ...database, mark }, { clock });
  const { handled, recorded } = work(fixture);
  const enqueue = (n: number) =>
    database.commit((transaction) => fixture.jobs.enqueue(transaction, count, { n }, { orderKey: 'one' }));
  await enqueue(1);
  await vi.waitFor(() => expect(handled).toEqual([1]));
  await vi.waitFor(async () => {
    await fixture.jobs.flush();
    expect(recorded).toEqual([10]);
  });
  refuses = true;
  // Its successors do not wait for the table either.
  await Promise.all([enqueue(2), enqueue(3)]);
  await vi.waitFor(() => expect(handled).toEqual([1, 2, 3]));
  await fixture.jobs.flush();
  expect(recorded).toEqual([10]);
  refuses = false;
  await vi.waitFor(() => {
    clock.advance(1000);
    expect(recorded).toEqual([10, 20, 30]);
  });
  expect(await fixture.jobs.list()).toEqual([]);
});
