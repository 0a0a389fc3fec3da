import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyJwt } from '../../../services/data/keys/jwt.ts';
import { adminAuthorization } from '../../support/host.ts';
import { jwtSecret, openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

const [ann, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture({ environment: { DATA_JWT_SECRET: '' } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function callApp(path: string, body?: unknown, authorization = adminAuthorization): Promise<any> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data${path}`, {
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: reply.status, ...((await reply.json()) as object) };
}

test('creates keys, accepts them immediately and rotates them separately', async () => {
  expect((await callApp('/keys', undefined, 'Basic YTpi')).status).toBe(401);
  const first = await callApp('/keys');
  const status = (apikey: string): Promise<number> =>
    fixture.request('/pg/types', { headers: { apikey } }).then((reply) => reply.status);
  expect([await status(first.service), await status(first.secret), await status(first.publishable)]).toEqual([
    200, 200, 403,
  ]);
  const second = await callApp('/keys/rotate', { key: 'secret' });
  expect([await status(first.secret), await status(second.secret), await status(first.service)]).toEqual([
    401, 200, 200,
  ]);
  const third = await callApp('/keys/rotate', { key: 'all' });
  expect([await status(first.service), await status(third.service), await status(second.secret)]).toEqual([
    401, 200, 200,
  ]);
});

test('uses keys of the environment unchanged, and derives missing keys from the secret', async () => {
  await using input = await openDataFixture({
    environment: { DATA_ANON_KEY: 'anon-of-my-own', DATA_SERVICE_KEY: 'service-of-my-own' },
  });
  const service = createClient<any>(input.url, 'service-of-my-own');
  await input.sql('create table shut (id int primary key); alter table shut enable row level security');
  expect((await service.from('shut').insert({ id: 1 })).error).toBeNull();
  expect((await service.auth.admin.listUsers()).error).toBeNull();
  const anon = createClient<any>(input.url, 'anon-of-my-own');
  expect(await anon.from('shut').select()).toMatchObject({ error: null, data: [] });
  expect((await anon.auth.admin.listUsers()).error?.status).toBe(403);
  const other = createClient<any>(input.url, 'nobodys-key');
  expect((await other.from('shut').select()).error).toMatchObject({ message: 'Invalid API key' });
  // Derived keys are the same each time and are valid in addition to the configured keys.
  expect((await createClient<any>(input.url, input.anonKey).from('shut').select()).error).toBeNull();
  await using created = await openDataFixture();
  const reply = await fetch(`${created.host.url('control')}/api/data/keys`, {
    headers: { authorization: adminAuthorization },
  });
  const { anon: actualAnonKey }: any = await reply.json();
  expect((await createClient<any>(created.url, actualAnonKey).auth.getSession()).error).toBeNull();
  expect(
    await verifyJwt(actualAnonKey, { secret: jwtSecret, publicKey: () => undefined }, Date.now() / 1000),
  ).toMatchObject({
    claims: { role: 'anon' },
  });
});

test('runs statements as the owner or with the role of a user', async () => {
  const created = await callApp('/sql', { query: schema + rows });
  expect(created.error).toBeNull();
  const inserted = `insert into secrets values (1, '${ann}', 'a'), (2, '${ann}', 'b'), (3, '${bob}', 'c')`;
  expect((await callApp('/sql', { query: `${inserted}; select id, owner from secrets order by id` })).results).toEqual([
    { command: 'INSERT', columns: [], kinds: [], rows: [], count: 3 },
    {
      command: 'SELECT',
      columns: ['id', 'owner'],
      kinds: ['number', 'text'],
      rows: [
        ['1', ann],
        ['2', ann],
        ['3', bob],
      ],
      count: 3,
    },
  ]);
  const seen = await callApp('/sql', { query: 'select id from secrets', role: 'authenticated', user: bob });
  expect(seen.results[0].rows).toEqual([['3']]);
  expect((await callApp('/sql', { query: 'select nope', role: 'anon' })).error.code).toBe('42703');
  // Columns of the same name keep their values.
  const joined = await callApp('/sql', { query: `select 1 as id, 2.50 as id, true as id, '[1]'::json as id` });
  expect([joined.results[0].rows, joined.results[0].kinds]).toEqual([
    [['1', '2.50', 't', '[1]']],
    ['number', 'number', 'boolean', 'json'],
  ]);
});

test('lists small tables with counted rows, also during a change', async () => {
  const readRows = async (): Promise<unknown> =>
    (await callApp('/tables')).tables.find(({ name }: { name: string }) => name === 'secrets');
  expect(await readRows()).toMatchObject({ rows: 3, isEstimate: false });
  const locked = callApp('/sql', { query: 'lock table secrets; select pg_sleep(1.5)' });
  await expect.poll(readRows).toMatchObject({ isEstimate: true });
  expect((await locked).error).toBeNull();
  expect(await readRows()).toMatchObject({ rows: 3, isEstimate: false });
});

test('explains the row visibility of a user', async () => {
  expect(await callApp(`/tables/public/secrets/sight?user=${ann}`)).toMatchObject({
    isProtected: true,
    isGranted: true,
    total: 3,
    visible: 2,
    policies: [{ name: 'own', applies: true, rows: 2, condition: '(owner = auth.uid())' }],
  });
  expect(await callApp('/tables/public/secrets/sight?role=anon')).toMatchObject({
    visible: 0,
    policies: [{ applies: false }],
  });
  expect((await callApp('/tables/pg_catalog/pg_authid/sight')).status).toBe(404);
});

test('reports a table without policies and protects it by a template', async () => {
  await callApp('/sql', { query: 'create table notes (id int primary key, owner uuid, body text)' });
  const find = async (): Promise<any> =>
    (await callApp('/tables')).tables.find(({ name }: { name: string }) => name === 'notes');
  expect(await find()).toMatchObject({ isProtected: false, policies: 0, isView: false });
  expect((await callApp('/tables/public/notes/protect', { template: 'owner', column: 'nope' })).status).toBe(409);
  expect((await callApp('/tables/public/notes/protect', { template: 'owner', column: 'owner' })).status).toBe(200);
  expect(await find()).toMatchObject({ isProtected: true, policies: 1 });
  await callApp('/sql', { query: `insert into notes values (1, '${ann}', 'x'), (2, '${bob}', 'y')` });
  expect(await callApp(`/tables/public/notes/sight?user=${bob}`)).toMatchObject({ total: 2, visible: 1 });
});
