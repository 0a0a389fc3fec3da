import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openSqlite } from '../../../main/host/database/sqlite.ts';
import { silentLog } from '../../support/database-location.ts';

it.each([
  ['darwin', 1],
  ['linux', 0],
  ['win32', 0],
] as const)('writes through the cache of the disk on %s: %i', async (platform, isOn) => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-sync-'));
  const { kysely, close } = openSqlite(folder, silentLog, undefined, platform);
  const read = async (name: string): Promise<unknown> =>
    (await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(kysely)).rows[0]?.[name];
  expect([await read('fullfsync'), await read('checkpoint_fullfsync')]).toEqual([isOn, isOn]);
  expect([await read('synchronous'), await read('journal_mode')]).toEqual([2, 'wal']);
  await close();
  rmSync(folder, { recursive: true });
});
