import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../main/host/database/open.ts';
import { silentLog } from '../../support/database-location.ts';
import { isMissing } from '../../support/requirements.ts';

let fixture: string;
beforeEach(() => {
  fixture = mkdtempSync(join(tmpdir(), 'sqlite-'));
});
afterEach(() => rmSync(fixture, { recursive: true, force: true }));

const open = (folder = join(fixture, 'service')) => openDatabase({ folder, schema: 'service', log: silentLog });

describe('SQLite database', () => {
  it('is accessible to its user only', async () => {
    await using database = await open();
    await sql`create table t (a integer)`.execute(database.kysely);
    const modes = ['', 'db.sqlite', 'db.sqlite-wal'].map(
      (name) => statSync(join(fixture, 'service', name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  it('syncs each commit', async () => {
    await using database = await open();
    const pragma = async (name: string) =>
      (await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(database.kysely)).rows[0];
    expect(await pragma('journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(await pragma('synchronous')).toEqual({ synchronous: 2 });
    expect(await pragma('foreign_keys')).toEqual({ foreign_keys: 1 });
  });

  it('leaves one file behind when closed', async () => {
    const database = await open();
    await sql`create table t (a integer)`.execute(database.kysely);
    await database[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    expect(() => statSync(join(fixture, 'service', 'db.sqlite-wal'))).toThrow('ENOENT');
  });

  it('reports busy while another process writes', async () => {
    await using database = await open();
    await sql`create table t (a integer)`.execute(database.kysely);
    await sql`pragma busy_timeout = 1`.execute(database.kysely);
    const other = new Sqlite(join(fixture, 'service', 'db.sqlite'));
    other.exec('begin immediate');
    const insert = () => database.commit((transaction) => transaction.insertInto('t').values({ a: 1 }).execute());
    await expect(insert()).rejects.toMatchObject({ code: 'database.busy', status: 503, retryable: true });
    other.close();
    await insert();
  });

  it('is copied consistently during writes', async () => {
    await using database = await open();
    await sql`create table t (a integer, filler text)`.execute(database.kysely);
    const insert = (a: number) =>
      database.commit(async (transaction) => {
        await transaction
          .insertInto('t')
          .values({ a, filler: 'x'.repeat(2000) })
          .execute();
        await transaction.insertInto('t').values({ a: -a, filler: 'y' }).execute();
      });
    for (let a = 1; a <= 300; a += 1) await insert(a);
    let copying = true;
    const copy = database.backup(join(fixture, 'copy.sqlite')).finally(() => (copying = false));
    for (let a = 301; copying; a += 1) await insert(a);
    await copy;
    expect(statSync(join(fixture, 'copy.sqlite')).mode & 0o777).toBe(0o600);
    const restored = new Sqlite(join(fixture, 'copy.sqlite'));
    expect(restored.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(restored.prepare('select sum(a) as sum, count(*) >= 600 as whole from t').get()).toEqual({
      sum: 0,
      whole: 1,
    });
    restored.close();
  });
});

const small = (folder: string) => ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder];
const canMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), 'mount-'));
  const mounted = spawnSync('mount', small(probe)).status === 0;
  if (mounted) execFileSync('umount', [probe]);
  rmSync(probe, { recursive: true });
  return mounted;
})();

// Where mounting is not permitted, a limit on the file replaces the full disk; SQLite then returns the same code.
describe(canMount ? 'a full disk' : 'a full database file (mounting a small disk is not permitted here)', () => {
  it('reports a full disk as retryable, corrupts nothing, and recovers', async () => {
    const folder = join(fixture, 'disk');
    mkdirSync(folder);
    if (canMount) execFileSync('mount', small(folder));
    try {
      const fillerFile = join(folder, 'ballast');
      if (canMount) writeFileSync(fillerFile, Buffer.alloc(512 * 1024));
      {
        await using database = await open(folder);
        await sql`create table t (a integer primary key, filler text)`.execute(database.kysely);
        if (!canMount) await sql`pragma max_page_count = 60`.execute(database.kysely);
        const filler = 'x'.repeat(20_000);
        const insert = (a: number, text = filler) =>
          database.commit((transaction) => transaction.insertInto('t').values({ a, filler: text }).execute());
        let stored = 0;
        const fill = async (): Promise<void> => {
          for (;;) {
            await insert(stored + 1);
            stored += 1;
          }
        };
        await expect(fill()).rejects.toMatchObject({ code: 'database.full', status: 507, retryable: true });
        expect(stored).toBeGreaterThan(0);
        // In a group, works that still fit are stored.
        const [large, tiny] = await Promise.allSettled([insert(-1), insert(-2, '')]);
        expect(large).toMatchObject({ reason: { code: 'database.full' } });
        const extra = tiny.status === 'fulfilled' ? 1 : 0;
        const count = await sql<{ count: number }>`select count(*) as count from t`.execute(database.kysely);
        expect(count.rows).toEqual([{ count: stored + extra }]);

        if (canMount) rmSync(fillerFile);
        else await sql`pragma max_page_count = 10000`.execute(database.kysely);
        await insert(stored + 1);
        expect((await sql`pragma integrity_check`.execute(database.kysely)).rows).toEqual([{ integrity_check: 'ok' }]);
      }
      await using second = await open(folder);
      expect((await sql`pragma integrity_check`.execute(second.kysely)).rows).toEqual([{ integrity_check: 'ok' }]);
    } finally {
      if (canMount) execFileSync('umount', [folder]);
    }
  });

  it('leaves no partial copy', async () => {
    if (isMissing(canMount)) return;
    const folder = join(fixture, 'disk');
    mkdirSync(folder);
    execFileSync('mount', small(folder));
    try {
      await using database = await open();
      await sql`create table t (filler text)`.execute(database.kysely);
      await database.kysely
        .insertInto('t')
        .values({ filler: 'x'.repeat(2_000_000) })
        .execute();
      const copy = database.backup(join(folder, 'copy.sqlite'));
      await expect(copy).rejects.toMatchObject({ code: 'database.full' });
      expect(() => statSync(join(folder, 'copy.sqlite'))).toThrow('ENOENT');
    } finally {
      execFileSync('umount', [folder]);
    }
  });
});
