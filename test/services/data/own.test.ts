import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyJwt } from '../../../services/data/keys/jwt.ts';
import { adminAuthorization } from '../../support/host.ts';
import { jwtSecret, openDataRoom, type DataRoom } from './room.ts';
import { rows, schema } from './schema.ts';

const [ann, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
let room: DataRoom;
beforeAll(async () => {
  room = await openDataRoom({ environment: { DATA_JWT_SECRET: '' } });
});
afterAll(() => room[Symbol.asyncDispose]());

async function own(path: string, body?: unknown, authorization = adminAuthorization): Promise<any> {
  const reply = await fetch(`${room.host.url('control')}/api/data${path}`, {
    headers: { authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: reply.status, ...((await reply.json()) as object) };
}

test('keys are made, count at once, and are made anew one by one', async () => {
  expect((await own('/keys', undefined, 'Basic YTpi')).status).toBe(401);
  const first = await own('/keys');
  const status = (apikey: string): Promise<number> =>
    room.request('/pg/types', { headers: { apikey } }).then((reply) => reply.status);
  expect([await status(first.service), await status(first.secret), await status(first.publishable)]).toEqual([
    200, 200, 403,
  ]);
  const second = await own('/keys/rotate', { key: 'secret' });
  expect([await status(first.secret), await status(second.secret), await status(first.service)]).toEqual([
    401, 200, 200,
  ]);
  const third = await own('/keys/rotate', { key: 'all' });
  expect([await status(first.service), await status(third.service), await status(second.secret)]).toEqual([
    401, 200, 200,
  ]);
});

test('keys of the environment count as they are, tokens or not, and are made from the secret where there is none', async () => {
  await using given = await openDataRoom({
    environment: { DATA_ANON_KEY: 'anon-of-my-own', DATA_SERVICE_KEY: 'service-of-my-own' },
  });
  const service = createClient<any>(given.url, 'service-of-my-own');
  await given.sql('create table shut (id int primary key); alter table shut enable row level security');
  expect((await service.from('shut').insert({ id: 1 })).error).toBeNull();
  expect((await service.auth.admin.listUsers()).error).toBeNull();
  const anon = createClient<any>(given.url, 'anon-of-my-own');
  expect(await anon.from('shut').select()).toMatchObject({ error: null, data: [] });
  expect((await anon.auth.admin.listUsers()).error?.status).toBe(403);
  const other = createClient<any>(given.url, 'nobodys-key');
  expect((await other.from('shut').select()).error).toMatchObject({ message: 'Invalid API key' });
  // What is made from the secret is the same each time, and counts beside the keys that were given.
  expect((await createClient<any>(given.url, given.anonKey).from('shut').select()).error).toBeNull();
  await using made = await openDataRoom();
  const reply = await fetch(`${made.host.url('control')}/api/data/keys`, {
    headers: { authorization: adminAuthorization },
  });
  const { anon: ours }: any = await reply.json();
  expect((await createClient<any>(made.url, ours).auth.getSession()).error).toBeNull();
  expect(verifyJwt(ours, { secret: jwtSecret, publicKey: () => undefined }, Date.now() / 1000)).toMatchObject({
    claims: { role: 'anon' },
  });
});

test('statements run as the owner, or as somebody', async () => {
  const made = await own('/sql', { query: schema + rows });
  expect(made.error).toBeNull();
  const inserted = `insert into secrets values (1, '${ann}', 'a'), (2, '${ann}', 'b'), (3, '${bob}', 'c')`;
  expect((await own('/sql', { query: `${inserted}; select id, owner from secrets order by id` })).results).toEqual([
    { command: 'INSERT', columns: [], rows: [], count: 3 },
    {
      command: 'SELECT',
      columns: ['id', 'owner'],
      rows: [
        ['1', ann],
        ['2', ann],
        ['3', bob],
      ],
      count: 3,
    },
  ]);
  const seen = await own('/sql', { query: 'select id from secrets', role: 'authenticated', user: bob });
  expect(seen.results[0].rows).toEqual([['3']]);
  expect((await own('/sql', { query: 'select nope', role: 'anon' })).error.code).toBe('42703');
});

test('small tables are listed with their rows as counted, also while somebody changes one', async () => {
  const rowsOf = async (): Promise<unknown> =>
    (await own('/tables')).tables.find(({ name }: { name: string }) => name === 'secrets');
  expect(await rowsOf()).toMatchObject({ rows: 3, isEstimate: false });
  const locked = own('/sql', { query: 'lock table secrets; select pg_sleep(1.5)' });
  await expect.poll(rowsOf).toMatchObject({ isEstimate: true });
  expect((await locked).error).toBeNull();
  expect(await rowsOf()).toMatchObject({ rows: 3, isEstimate: false });
});

test('why somebody sees what they see', async () => {
  expect(await own(`/tables/public/secrets/sight?user=${ann}`)).toMatchObject({
    isProtected: true,
    isGranted: true,
    total: 3,
    visible: 2,
    policies: [{ name: 'own', applies: true, rows: 2, condition: '(owner = auth.uid())' }],
  });
  expect(await own('/tables/public/secrets/sight?role=anon')).toMatchObject({
    visible: 0,
    policies: [{ applies: false }],
  });
  expect((await own('/tables/pg_catalog/pg_authid/sight')).status).toBe(404);
});

test('a table without policies is told, and protected by a template', async () => {
  await own('/sql', { query: 'create table notes (id int primary key, owner uuid, body text)' });
  const find = async (): Promise<any> =>
    (await own('/tables')).tables.find(({ name }: { name: string }) => name === 'notes');
  expect(await find()).toMatchObject({ isProtected: false, policies: 0, isView: false });
  expect((await own('/tables/public/notes/protect', { template: 'owner', column: 'nope' })).status).toBe(409);
  expect((await own('/tables/public/notes/protect', { template: 'owner', column: 'owner' })).status).toBe(200);
  expect(await find()).toMatchObject({ isProtected: true, policies: 1 });
  await own('/sql', { query: `insert into notes values (1, '${ann}', 'x'), (2, '${bob}', 'y')` });
  expect(await own(`/tables/public/notes/sight?user=${bob}`)).toMatchObject({ total: 2, visible: 1 });
});
