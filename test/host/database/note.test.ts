import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { sql, type Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import { openDatabase, type Database } from '../../../main/host/database/open.ts';
import { eachDialect } from '../../support/database.ts';
import { silentLog } from '../../support/database-location.ts';

const createTable = (database: Database) =>
  database.kysely.schema
    .createTable('t')
    .addColumn('a', 'integer', (column) => column.primaryKey())
    .execute();

const insert = (a: number) => async (transaction: Kysely<any>) => {
  await transaction.insertInto('t').values({ a }).execute();
  return a;
};

const stored = async (database: Database): Promise<number[]> =>
  (await database.kysely.selectFrom('t').select('a').orderBy('a').execute()).map((row) => Number(row['a']));

eachDialect((name, open) => {
  it('runs waiting notes in one transaction and fails only the faulty work', async () => {
    const database = await open();
    await createTable(database);
    const transactions = new Set<unknown>();
    const note = (a: number) =>
      database.note((transaction) => {
        transactions.add(transaction);
        return insert(a)(transaction);
      });
    expect(await Promise.all([1, 2, 3].map(note))).toEqual([1, 2, 3]);
    expect(transactions.size).toBe(1);
    const outcomes = await Promise.allSettled([3, 4, 5].map(note));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(await stored(database)).toEqual([1, 2, 3, 4, 5]);
  });

  it('separates failures of commits and notes', async () => {
    const database = await open();
    await createTable(database);
    const outcomes = await Promise.allSettled([
      database.commit(insert(1)),
      database.note(insert(2)),
      database.note(insert(1)),
      database.commit(insert(3)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await stored(database)).toEqual([1, 2, 3]);
  });

  it('refuses notes after close and finishes pending ones', async () => {
    const database = await open();
    await createTable(database);
    const accepted = database.note(insert(1));
    const closed = database[Symbol.asyncDispose]();
    await expect(database.note(insert(2))).rejects.toMatchObject({ code: 'database.closed' });
    await expect(accepted).resolves.toBe(1);
    await closed;
  });

  if (name === 'postgres') {
    it('waits for the disk in a commit but not in a note', async () => {
      const database = await open();
      const level = async (db: Kysely<any>) =>
        (await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(db)).rows[0]?.synchronous_commit;
      expect(await database.note(level)).toBe('off');
      expect(await database.commit(level)).toBe('on');
      // Concurrent callers share the transaction, and then its sync.
      expect(await Promise.all([database.note(level), database.commit(level)])).toEqual(['on', 'on']);
      expect(await level(database.kysely)).toBe('on');
    });
  }
});

describe('SQLite database on a slow disk', () => {
  let folder: string;
  let database: Database;
  let syncs: MockInstance<FileHandle['datasync']>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sqlite-'));
    await using handle = await openFile(folder, 'r');
    syncs = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'datasync');
    database = await openDatabase({ folder, schema: 'test', log: silentLog });
    await createTable(database);
  });
  afterEach(async () => {
    syncs.mockRestore();
    await database[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Blocks the next sync until the test releases it. */
  const holdSync = (): (() => void) => {
    const release = Promise.withResolvers<void>();
    syncs.mockImplementationOnce(() => release.promise);
    return release.resolve;
  };
  const getOutcome = (work: Promise<unknown>) => {
    const seen = { settled: false };
    void work.then(() => (seen.settled = true));
    return seen;
  };

  it('resolves a commit after the sync and serves others in the meantime', async () => {
    const release = holdSync();
    const commit = database.commit(insert(1));
    const seen = getOutcome(commit);
    await vi.waitFor(() => expect(syncs).toHaveBeenCalledTimes(1));
    expect(await stored(database)).toEqual([1]);
    expect(seen.settled).toBe(false);
    release();
    expect(await commit).toBe(1);
  });

  it('shares one sync among all waiting commits', async () => {
    const release = holdSync();
    const first = database.commit(insert(1));
    await vi.waitFor(() => expect(syncs).toHaveBeenCalledTimes(1));
    const others = Promise.all([2, 3, 4].map((a) => database.commit(insert(a))));
    release();
    await Promise.all([first, others]);
    expect(syncs).toHaveBeenCalledTimes(2);
  });

  it('resolves a note before it is synced shortly after', async () => {
    const release = holdSync();
    await database.note(insert(1));
    await vi.waitFor(() => expect(syncs).toHaveBeenCalledTimes(1));
    await database.note(insert(2));
    release();
  });

  it('delays a note until the data it may have read is synced', async () => {
    const release = holdSync();
    const commit = database.commit(insert(1));
    await vi.waitFor(() => expect(syncs).toHaveBeenCalledTimes(1));
    const read = vi.fn();
    const note = database.note(async (transaction) => {
      read(await transaction.selectFrom('t').select('a').execute());
    });
    const seen = getOutcome(note);
    await vi.waitFor(() => expect(read).toHaveBeenCalledWith([{ a: 1 }]));
    await stored(database);
    expect(seen.settled).toBe(false);
    release();
    await Promise.all([commit, note]);
  });

  it('leaves other statements at level FULL, also after failed work', async () => {
    const level = () => sql<{ synchronous: number }>`pragma synchronous`.execute(database.kysely);
    await expect(database.note(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(database.commit(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await level()).rows).toEqual([{ synchronous: 2 }]);
  });

  it('checkpoints into the database file after a failed sync', async () => {
    await database.commit(insert(1));
    syncs.mockRejectedValueOnce(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    expect(await database.commit(insert(2))).toBe(2);
    expect(statSync(join(folder, 'db.sqlite-wal')).size).toBe(0);
    await database.commit(insert(3));
    expect(syncs).toHaveBeenCalledTimes(3);
    expect(statSync(join(folder, 'db.sqlite-wal')).size).toBeGreaterThan(0);
  });

  it('refuses commits while the disk fails, repeats no work, and recovers', async () => {
    await sql`pragma busy_timeout = 1`.execute(database.kysely);
    const reader = new Sqlite(join(folder, 'db.sqlite'));
    reader.exec('begin; select * from t');
    reader.prepare('select * from t').all();
    syncs.mockRejectedValueOnce(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
    const outcomes = await Promise.allSettled([1, 2].map((a) => database.commit(insert(a))));
    const refused = { reason: { code: 'database.busy', status: 503, retryable: true } };
    expect(outcomes).toMatchObject([refused, refused]);
    // The disk would sync again, but may have lost earlier writes.
    await expect(database.commit(insert(3))).rejects.toMatchObject(refused.reason);
    reader.close();
    expect(await database.commit(insert(4))).toBe(4);
    expect(await stored(database)).toEqual([1, 2, 3, 4]);
  });
});
