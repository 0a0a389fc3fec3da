import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { restoreBackup } from '../../../main/host/backup/restore.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

const batch = (fixture: DataFixture, requests: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fixture.request('/rest/v1/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ requests }),
  });

test('runs several writes in one transaction, all or none', async () => {
  await using fixture = await openDataFixture();
  await fixture.sql(schema);
  await fixture.sql(rows);
  const good = await batch(fixture, [
    { method: 'POST', path: '/clients', body: { id: 7, name: 'Seven' } },
    {
      method: 'POST',
      path: '/projects?select=id,clients(name)',
      body: { id: 70, client_id: 7 },
      prefer: 'return=representation',
    },
    { method: 'GET', path: '/clients?id=eq.7' },
    { method: 'POST', path: '/rpc/add_them', body: { a: 2, b: 3 } },
  ]);
  expect([good.status, await good.json()]).toEqual([
    200,
    [
      { status: 201, body: null },
      { status: 201, body: [{ id: 70, clients: { name: 'Seven' } }] },
      { status: 200, body: [{ id: 7, name: 'Seven' }] },
      { status: 200, body: 5 },
    ],
  ]);
  const invalid = await batch(fixture, [
    { method: 'DELETE', path: '/items?id=gt.0' },
    { method: 'POST', path: '/clients', body: { id: 7, name: 'again' } },
  ]);
  expect([invalid.status, ((await invalid.json()) as { code: string }).code]).toEqual([409, '23505']);
  expect((await fixture.sql('select count(*)::int from items'))[0]).toEqual({ count: 15 });
  // With the role of the sender, so policies apply to each request.
  const refused = await batch(fixture, [
    { method: 'POST', path: '/items', body: { id: 500 } },
    { method: 'POST', path: '/secrets', body: { id: 1, owner: '11111111-1111-4111-8111-111111111111' } },
  ]);
  expect(refused.status).toBe(401);
  expect(await fixture.sql('select id from items where id = 500')).toEqual([]);
  expect((await batch(fixture, [{ method: 'TRACE', path: 'x' }])).status).toBe(400);
});

test('generates types that TypeScript compiles and supabase-js accepts', async () => {
  await using fixture = await openDataFixture();
  await fixture.sql(schema);
  await fixture.sql(
    "create type mood as enum ('sad', 'glad'); create table moods (id int primary key, mood mood not null, note mood)",
  );
  const reply = await fixture.request('/pg/types', { headers: { apikey: fixture.serviceKey } });
  const text = await reply.text();
  expect(text).toContain('mood: "sad" | "glad";');
  const folder = mkdtempSync(fileURLToPath(new URL('../../../.cache/types-', import.meta.url)));
  try {
    writeFileSync(join(folder, 'database.ts'), text);
    writeFileSync(
      join(folder, 'use.ts'),
      `import { createClient } from '@supabase/supabase-js';
import type { Database } from './database.ts';
const client = createClient<Database>('http://127.0.0.1', 'key');
const { data } = await client.from('projects').select('id, name, clients(name)').single();
export const id: number | undefined = data?.id;
export const name: string | null | undefined = data?.clients?.name;
export const three: number | null = (await client.rpc('add_them', { a: 1, b: 2 })).data;
// @ts-expect-error a mood is one of two
await client.from('moods').insert({ id: 1, mood: 'odd' });
`,
    );
    const compiler = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
    const options = [
      '--noEmit',
      '--ignoreConfig',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--allowImportingTsExtensions',
      '--types',
      'node',
    ];
    const ran = spawnSync(process.execPath, [compiler, ...options, join(folder, 'use.ts')], { encoding: 'utf8' });
    expect(ran.stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('restores the rows of a backup and discards later ones', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-data-'));
  const [dataDir, backups] = [join(folder, 'data'), join(folder, 'backups')];
  const environment = { HOMEPORT_BACKUP_FOLDER: backups };
  mkdirSync(dataDir);
  mkdirSync(backups);
  try {
    {
      await using fixture = await openDataFixture({ dataDir, environment });
      await fixture.sql('create table kept (id int primary key); insert into kept values (1)');
      const created = await fetch(`${fixture.host.url('control')}/api/backups`, {
        method: 'POST',
        headers: { authorization: adminAuthorization },
      });
      expect(created.status).toBe(200);
      // The server starts again automatically.
      await fixture.sql('insert into kept values (2)');
    }
    const [file = ''] = readdirSync(backups).filter((name) => !name.startsWith('.'));
    await restoreBackup(dataDir, join(backups, file), { force: true });
    await using fixture = await openDataFixture({ dataDir, environment });
    expect(await fixture.sql('select id from kept')).toEqual([{ id: 1 }]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
