import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { api } from '../../support/api.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

let fixture: DataFixture;
let client: SupabaseClient<any, any, any>;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(schema);
  client = createClient(fixture.url, fixture.anonKey);
});
beforeEach(() =>
  fixture.sql(
    `truncate clients, projects, users, items, docs, tiobe_pls, no_pk restart identity cascade; ${rows
      .split('\n')
      .filter((line) => !/into (cornercase|people|messages|"Weird)/.test(line))
      .join('\n')}`,
  ),
);
afterAll(() => fixture[Symbol.asyncDispose]());

const post = (path: string, body: unknown, headers: Record<string, string> = {}, method = 'POST'): Promise<Response> =>
  fixture.request(`/rest/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

test('inserts one row and returns it with embeds', async () => {
  const { data, status, error } = await client
    .from('projects')
    .insert({ id: 9, name: 'New', client_id: 2 })
    .select('id, clients(name)')
    .single();
  expect([status, error, data]).toEqual([201, null, { id: 9, clients: { name: 'Apple' } }]);
});

test('applies defaults to empty rows, missing keys and empty lists', async () => {
  expect((await client.from('docs').insert({}).select('id, title, done')).data).toEqual([
    { id: 4, title: 'untitled', done: false },
  ]);
  const bulk = [{ title: 'x', done: true }, { title: 'y' }];
  expect((await client.from('docs').insert(bulk).select('title, done')).data).toEqual([
    { title: 'x', done: true },
    { title: 'y', done: null },
  ]);
  const filled = await client.from('docs').insert(bulk, { defaultToNull: false }).select('title, done');
  expect(filled.data).toEqual([
    { title: 'x', done: true },
    { title: 'y', done: false },
  ]);
  expect((await client.from('docs').insert([])).status).toBe(201);
});

test('writes only the named columns', async () => {
  const reply = await post(
    'projects?columns=id,name&select=*',
    [
      { id: 8, name: 'x', other: 1 },
      { id: 7, name: 'y' },
    ],
    { Prefer: 'return=representation' },
  );
  expect([reply.status, await reply.json()]).toEqual([
    201,
    [
      { id: 8, name: 'x', client_id: null },
      { id: 7, name: 'y', client_id: null },
    ],
  ]);
});

test('accepts CSV and forms', async () => {
  const csv = await post('no_pk?select=a,b', 'a,b\n"x,1",\n"say ""hi""",NULL', {
    'content-type': 'text/csv',
    Prefer: 'return=representation',
  });
  expect(await csv.json()).toEqual([
    { a: 'x,1', b: '' },
    { a: 'say "hi"', b: null },
  ]);
  const form = await post('no_pk', 'a=1&b=two+words', {
    'content-type': 'application/x-www-form-urlencoded',
    Prefer: 'return=representation',
  });
  expect(await form.json()).toEqual([{ a: '1', b: 'two words' }]);
});

test('merges or ignores duplicates, also by other columns', async () => {
  const merged = await client
    .from('tiobe_pls')
    .upsert([{ name: 'Java', rank: 7 }])
    .select();
  expect([merged.status, merged.data]).toEqual([200, [{ name: 'Java', rank: 7 }]]);
  const ignored = await client
    .from('tiobe_pls')
    .upsert(
      [
        { name: 'Java', rank: 8 },
        { name: 'Zig', rank: 60 },
      ],
      { ignoreDuplicates: true },
    )
    .select();
  expect([ignored.status, ignored.data]).toEqual([201, [{ name: 'Zig', rank: 60 }]]);
  await fixture.sql('alter table tiobe_pls add constraint by_rank unique (rank)');
  const other = await client.from('tiobe_pls').upsert({ name: 'Zag', rank: 60 }, { onConflict: 'rank' }).select();
  expect(other.data).toEqual([{ name: 'Zag', rank: 60 }]);
});

test('ignores included columns of the primary key index', async () => {
  await fixture.sql(`create table parcels (id int, label text, primary key (id) include (label));
    create table slips (parcel_id int references parcels, note text, primary key (parcel_id) include (note));
    create view parcel_numbers as select id from parcels;
    grant all on parcels, slips, parcel_numbers to anon`);
  const upsert = (label: string) => client.from('parcels').upsert({ id: 1, label }).select();
  expect((await upsert('fragile')).data).toEqual([{ id: 1, label: 'fragile' }]);
  expect((await upsert('heavy')).data).toEqual([{ id: 1, label: 'heavy' }]);
  await client.from('slips').upsert({ parcel_id: 1, note: 'left with Ada' });
  const { data: result } = await client.from('parcels').select('id, slips(note)');
  expect(result).toEqual([{ id: 1, slips: { note: 'left with Ada' } }]);
  const through = await client
    .from('parcel_numbers')
    .upsert([{ id: 1 }, { id: 2 }], { ignoreDuplicates: true })
    .select();
  expect([through.error, through.data]).toEqual([null, [{ id: 2 }]]);
  const shape = await api<{ columns: { name: string; isKey: boolean }[] }>(
    fixture.host.url('control'),
    '/api/data/tables/public/parcels',
  );
  expect(shape.columns.filter(({ isKey }) => isKey).map(({ name }) => name)).toEqual(['id']);
});

test('replaces a row with PUT', async () => {
  const put = (name: string, headers = {}): Promise<Response> =>
    post(`tiobe_pls?name=eq.${name}`, { name, rank: 50 }, headers, 'PUT');
  expect((await put('Go')).status).toBe(201);
  expect((await put('Go')).status).toBe(204);
  expect(await (await put('Go', { Prefer: 'return=representation' })).json()).toEqual([{ name: 'Go', rank: 50 }]);
});

test('updates and deletes rows', async () => {
  const changed = await client.from('items').update({ id: 99 }).eq('id', 3).select();
  expect([changed.status, changed.data]).toEqual([200, [{ id: 99 }]]);
  const counted = await client.from('items').delete({ count: 'exact' }).lte('id', 5);
  expect([counted.status, counted.count]).toEqual([204, 4]);
  const deleted = await client.from('items').delete().eq('id', 6).select();
  expect(deleted.data).toEqual([{ id: 6 }]);
  expect((await client.from('items').update({}).eq('id', 7).select()).data).toEqual([]);
  const first = await fixture.request('/rest/v1/items?order=id&limit=2', {
    method: 'DELETE',
    headers: { Prefer: 'return=representation' },
  });
  expect(await first.json()).toEqual([{ id: 7 }, { id: 8 }]);
});

test('changes nothing when one row was expected and more match', async () => {
  const { error } = await client.from('items').delete().lt('id', 5).select().single();
  expect(error?.code).toBe('PGRST116');
  const bounded = await fixture.request('/rest/v1/items?id=lt.5', {
    method: 'DELETE',
    headers: { Prefer: 'handling=strict, max-affected=3' },
  });
  expect(bounded.status).toBe(400);
  const rolled = await client.from('items').delete().lt('id', 5).rollback().select();
  expect(rolled.data).toHaveLength(4);
  expect((await client.from('items').select('*', { count: 'exact', head: true })).count).toBe(15);
});

test('lists the applied preferences in their order', async () => {
  const reply = await post('tiobe_pls', [{ name: 'Ada', rank: 3 }], {
    Prefer:
      'tx=rollback, count=exact, return=representation, handling=lenient, timezone=Europe/Berlin, ' +
      'missing=default, resolution=merge-duplicates, nonsense=1',
  });
  expect(reply.headers.get('preference-applied')).toBe(
    'resolution=merge-duplicates, missing=default, return=representation, count=exact, tx=rollback, ' +
      'handling=lenient, timezone=Europe/Berlin',
  );
  expect(reply.headers.get('content-range')).toBe('*/1');
});

test('keeps the precision of large numbers', async () => {
  const reply = await post('docs?select=price', '{"price": 98765432109876543210.25}', {
    Prefer: 'return=representation',
  });
  expect(await reply.text()).toBe('[{"price":98765432109876543210.25}]');
});

test('allows every origin to read responses and their headers', async () => {
  const preflight = await fetch(`${fixture.url}/rest/v1/items`, {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'apikey,prefer',
    },
  });
  expect([
    preflight.status,
    preflight.headers.get('access-control-allow-origin'),
    preflight.headers.get('access-control-allow-headers'),
  ]).toEqual([200, '*', 'apikey,prefer']);
  const reply = await fixture.request('/rest/v1/items', { headers: { Origin: 'https://app.example' } });
  expect(reply.headers.get('access-control-expose-headers')).toContain('Content-Range');
});

test('describes all tables at the root for the service key', async () => {
  expect((await fixture.request('/rest/v1/')).status).toBe(404);
  const reply = await fixture.request('/rest/v1/', { headers: { apikey: fixture.serviceKey } });
  const { swagger, paths, definitions } = await reply.json();
  expect(swagger).toBe('2.0');
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/docs', '/rpc/add_them']));
  expect(definitions.docs.properties.id).toMatchObject({
    type: 'integer',
    description: expect.stringContaining('<pk/>'),
  });
});
