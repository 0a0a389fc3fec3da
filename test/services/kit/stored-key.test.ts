import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../main/host/database/open.ts';
import { openVault } from '../../../main/host/vault/vault.ts';
import { loadOrCreateKey } from '../../../services/kit/stored-key.ts';
import { silentLog } from '../../support/database-location.ts';

const location = { table: 'keys', name: 'server', purpose: 'sample.key' };

it('stores a key once for concurrent callers and never replaces one that cannot be opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-key-'));
  try {
    await using database = await openDatabase({ folder, schema: 'sample', log: silentLog });
    await database.kysely.schema
      .createTable('keys')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute();
    const vault = await openVault({ folder, create: true, log: silentLog });
    const context = { db: database.kysely, commit: database.commit, vault };
    let created = 0;
    const loadKey = (): Promise<string> => loadOrCreateKey(context, location, () => `key ${String((created += 1))}`);
    const [first, second] = await Promise.all([loadKey(), loadKey()]);
    expect(second).toBe(first);
    expect(await loadKey()).toBe(first);
    const rows = await database.kysely.selectFrom('keys').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(first);
    // Sealed for another purpose, like a key of another vault.
    const sealed = vault.seal('other', 'another purpose');
    await database.kysely.updateTable('keys').set({ sealed }).execute();
    const refusal = { code: 'vault.key_unreadable', status: 503, fields: { key: 'server' } };
    await expect(loadKey()).rejects.toMatchObject({
      ...refusal,
      detail: expect.stringContaining('homeport keys replace sample server') as string,
    });
    expect(await database.kysely.selectFrom('keys').selectAll().execute()).toEqual([{ name: 'server', sealed }]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
