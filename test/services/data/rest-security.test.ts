import { createHmac } from 'node:crypto';
import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jwtSecret, openDataFixture, type DataFixture } from './data-fixture.ts';
import { rows, schema } from './schema.ts';

let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(schema);
  await fixture.sql(rows);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const people = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

function createClientFor(person: string) {
  return createClient<any>(fixture.url, fixture.anonKey, { accessToken: () => Promise.resolve(fixture.token(person)) });
}

test('limits two users to their own rows on shared connections', async () => {
  const [ann, bob] = [createClientFor(people[0]), createClientFor(people[1])];
  const rounds = Array.from({ length: 60 }, (_, id) => id);
  await Promise.all(
    rounds.flatMap((id) => [
      ann
        .from('secrets')
        .insert({ id, body: `ann ${id}` })
        .throwOnError(),
      bob
        .from('secrets')
        .insert({ id: id + 1000, body: `bob ${id}` })
        .throwOnError(),
    ]),
  );
  const seen = await Promise.all(
    rounds.flatMap(() => [
      ann.from('secrets').select('owner').throwOnError(),
      bob.from('secrets').select('owner').throwOnError(),
      fixture.request('/rest/v1/secrets').then(async (reply) => ({ data: (await reply.json()) as unknown })),
    ]),
  );
  seen.forEach((reply, index) => {
    const owners = (reply.data as { owner: string }[]).map(({ owner }) => owner);
    expect(owners).toEqual(index % 3 === 2 ? [] : Array.from({ length: 60 }, () => people[index % 3]));
  });
  expect((await bob.from('secrets').update({ body: 'mine' }).eq('id', 3).select()).data).toEqual([]);
  expect((await bob.from('secrets').insert({ id: 5000, owner: people[0] })).status).toBe(403);
  const anon = await fixture.request('/rest/v1/secrets', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"id":6000}',
  });
  expect(anon.status).toBe(401);
});

test('refuses modified tokens, other algorithms and unknown roles', async () => {
  const good = fixture.token(people[0]);
  const [head = '', body = '', signature = ''] = good.split('.');
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: people[0], role: 'service_role' };
  const signed = (header: object): string => {
    const text = `${encode(header)}.${encode(claims)}`;
    return `${text}.${createHmac('sha256', jwtSecret).update(text).digest('base64url')}`;
  };
  const read = (token: string): Promise<Response> =>
    fixture.request('/rest/v1/secrets', { headers: { Authorization: `Bearer ${token}` } });
  const cases: readonly [string, number, string][] = [
    [`${head}.${encode(claims)}.${signature}`, 401, 'PGRST301'],
    [`${encode({ alg: 'none', typ: 'JWT' })}.${encode(claims)}.`, 401, 'PGRST301'],
    [signed({ alg: 'none' }), 401, 'PGRST301'],
    [signed({ alg: 'HS512' }), 401, 'PGRST301'],
    [`${head}.${body}.${signature}=`, 401, 'PGRST301'],
    [fixture.token(people[0], { exp: 1 }), 401, 'PGRST303'],
    [fixture.token(people[0], { nbf: 99_999_999_999 }), 401, 'PGRST303'],
    [fixture.token(people[0], { role: 'postgres' }), 403, '42501'],
    [fixture.token(people[0], { role: 'homeport' }), 403, '42501'],
    [fixture.token(people[0], { role: ['service_role'] }), 403, '42501'],
  ];
  for (const [token, status, code] of cases) {
    const reply = await read(token);
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([status, code]);
  }
  expect((await read(good)).status).toBe(200);
});

test('treats statements in the place of names only as names', async () => {
  const evil = [
    `x"; drop table items; --`,
    `x'; drop table items; --`,
    `*/ drop table items; /*`,
    `id) from items; drop table items; --`,
    `a\0b`,
    `${'x'.repeat(5000)}`,
  ];
  const calls: string[] = [];
  for (const text of evil) {
    const name = encodeURIComponent(text);
    const quoted = encodeURIComponent(`"${text.replaceAll('"', '\\"')}"`);
    for (const entry of [name, quoted]) {
      calls.push(
        `${entry}?select=*`,
        `rpc/${entry}`,
        `items?select=${entry}`,
        `items?select=a:${entry}`,
        `items?select=${entry}:id`,
      );
      calls.push(
        `items?select=id::${entry}`,
        `items?order=${entry}`,
        `items?order=id.${entry}`,
        `items?${entry}=eq.1`,
        `items?id=${entry}.1`,
      );
      calls.push(
        `docs?select=meta->>${entry}`,
        `docs?meta->>${entry}=eq.1`,
        `docs?search=fts(${entry}).x`,
        `items?or=(${entry}.eq.1)`,
      );
      calls.push(
        `items?select=${entry}(*)`,
        `items?select=projects!${entry}(*)`,
        `items?id=in.(${entry})`,
        `items?limit=${entry}`,
      );
      calls.push(
        `items?offset=${entry}`,
        `items?${entry}.id=eq.1`,
        `rpc/add_them?a=${entry}&b=1`,
        `rpc/add_them?${entry}=1`,
      );
    }
  }
  for (const call of calls) {
    const reply = await fixture.request(`/rest/v1/${call}`, { headers: { apikey: fixture.serviceKey } });
    expect([call, reply.status < 500], await reply.text()).toEqual([call, true]);
  }
  for (const text of evil) {
    const write = (query: string, body: unknown, headers = {}): Promise<Response> =>
      fixture.request(`/rest/v1/items?${query}`, {
        method: 'POST',
        headers: { apikey: fixture.serviceKey, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const name = encodeURIComponent(text);
    expect((await write('', { [text]: 1 })).status).toBe(400);
    expect((await write(`columns=${name}`, { id: 1 })).status).toBe(400);
    expect((await write(`on_conflict=${name}`, { id: 900 }, { Prefer: 'resolution=merge-duplicates' })).status).toBe(
      400,
    );
  }
  expect((await fixture.sql('select count(*)::int from items'))[0]).toEqual({ count: 15 });
});

test('runs ten thousand values and thousands of filters as one statement', async () => {
  const many = Array.from({ length: 9000 }, (_, index) => index + 1).join(',');
  const inList = await fixture.request(`/rest/v1/items?id=in.(${many})`);
  expect(((await inList.json()) as unknown[]).length).toBe(15);
  const filters = Array.from({ length: 5000 }, () => 'id=gt.0').join('&');
  const reply = await fixture.request(`/rest/v1/items?${filters}`);
  expect([reply.status, ((await reply.json()) as unknown[]).length]).toEqual([200, 15]);
  await fixture.sql('create table narrow (a int); insert into narrow values (1)');
  // As many filters as a URL can contain; more are refused without blocking the service.
  const longest = await fixture.request(`/rest/v1/narrow?${'a=gt.0&'.repeat(9000)}`);
  expect([longest.status, await longest.json()]).toEqual([200, [{ a: 1 }]]);
  expect((await fixture.request(`/rest/v1/narrow?${'a=gt.0&'.repeat(10_000)}`)).status).toBe(431);
  expect((await fixture.request('/rest/v1/narrow?a=gt.0')).status).toBe(200);
  const deep = `${'and('.repeat(3000)}id.eq.1${')'.repeat(3000)}`;
  expect((await fixture.request(`/rest/v1/items?or=(${deep})`)).status).toBe(400);
});

test('hides schemas that are not exposed', async () => {
  for (const schemaName of ['auth', 'pg_catalog', 'information_schema', 'homeport', 'public"; --']) {
    const reply = await fixture.request('/rest/v1/items', {
      headers: { apikey: fixture.serviceKey, 'Accept-Profile': schemaName },
    });
    expect(reply.status).toBe(406);
  }
  expect((await fixture.request('/rest/v1/pg_authid', { headers: { apikey: fixture.serviceKey } })).status).toBe(404);
  // The owner role is not a superuser, so statements cannot access files or programs of this computer.
  await expect(fixture.sql("copy (select 1) to program 'id'")).rejects.toThrow(/42501/);
  await expect(fixture.sql("select pg_read_file('/etc/passwd')")).rejects.toThrow(/42501/);
  await expect(fixture.sql('set role homeport')).rejects.toThrow(/42501/);
});

test('discards settings of a statement before the next one', async () => {
  await fixture.sql(
    'set search_path = pg_catalog; set statement_timeout = 5000; begin; select set_config(\'request.jwt.claims\', \'{"sub":"x"}\', false)',
  );
  expect(await fixture.sql("select current_setting('search_path') as path, auth.jwt() as claims")).toEqual([
    { path: '"$user",public,extensions', claims: {} },
  ]);
});

test('discards session settings of a function before the next caller', async () => {
  await fixture.sql(`create table tenants (tenant text); insert into tenants values ('mine');
    alter table tenants enable row level security; grant select, insert on tenants to anon;
    create policy own on tenants for select using (tenant = current_setting('app.tenant', true));
    create policy any_new on tenants for insert with check (true);
    create function step_in() returns text language plpgsql as $$ begin
      perform set_config('app.tenant', 'mine', false);
      perform set_config('role', 'service_role', false);
      perform set_config('default_transaction_read_only', 'on', false);
      return (select count(*) from tenants); end $$;
    create function step_out() returns text language plpgsql as $$ begin
      perform set_config('row_security', 'off', false); return current_user; end $$;`);
  try {
    const call = async (name: string) =>
      (
        await fixture.request(`/rest/v1/rpc/${name}`, {
          method: 'POST',
          body: '{}',
          headers: { 'Content-Type': 'application/json' },
        })
      ).json();
    const seen = async () => (await fixture.request('/rest/v1/tenants?select=tenant')).json();
    expect(await call('step_in')).toBe('1');
    // The next caller receives the same connection.
    expect(await seen()).toEqual([]);
    const created = await fixture.request('/rest/v1/tenants', {
      method: 'POST',
      body: '{"tenant":"new"}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect([created.status, await created.text()]).toEqual([201, '']);
    expect(await call('step_out')).toBe('anon');
    expect(await seen()).toEqual([]);
  } finally {
    await fixture.sql('drop table tenants; drop function step_in(); drop function step_out()');
  }
});

test('runs functions of the owner in `public` without superuser rights', async () => {
  const key = {
    apikey: fixture.serviceKey,
    Authorization: `Bearer ${fixture.serviceKey}`,
    'Content-Type': 'application/json',
  };
  await fixture.sql(`create table caught (who text);
    create function public.array_position(int2[], int2) returns int language plpgsql as
      $$ begin insert into public.caught values (current_user); return 1; end $$;`);
  try {
    await fixture.sql('create table afterwards (id int primary key)');
    expect((await fetch(`${fixture.url}/pg/types`, { headers: key })).status).toBe(200);
    expect((await fixture.request('/rest/v1/afterwards', { headers: key })).status).toBe(200);
    const seen = await fixture.request('/rest/v1/caught', { headers: key });
    expect(await seen.json()).toEqual([]);
  } finally {
    await fixture.sql('drop function public.array_position(int2[], int2); drop table caught, afterwards');
  }
});
