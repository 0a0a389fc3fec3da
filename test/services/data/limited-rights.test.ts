import * as m from '#messages/data-problems';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPostgres, type PostgresServer } from '../../support/postgres.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

/** External PostgreSQL with a separate administrator. */
let server: PostgresServer;
let admin: pg.Client;
beforeAll(async () => {
  server = await startPostgres();
  admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await server[Symbol.asyncDispose]();
});

/** Creates a separate database and returns the address of a user with the given rights. */
async function addressFor(user: string, options: string, owns: boolean): Promise<string> {
  await admin.query(`create role ${user} login ${options}`);
  await admin.query(`create database ${user}_rows${owns ? ` owner ${user}` : ''}`);
  const url = new URL(`/${user}_rows`, server.url);
  url.username = user;
  return url.href;
}

async function overview(fixture: DataFixture): Promise<any> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data/overview?wake=true`, {
    headers: { authorization: adminAuthorization },
  });
  return reply.json();
}

test('lists the statements for an administrator when the user lacks rights, and works after them', async () => {
  const url = await addressFor('modest', 'nocreaterole', false);
  const orders = await (async () => {
    await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
    const reply = await fixture.request('/rest/v1/notes');
    expect(reply.status).toBe(503);
    // Callers with the anon key receive no internal details.
    const signUp = await fixture.request('/auth/v1/signup', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"a@example.com","password":"correct horse"}',
    });
    const types = await fixture.request('/pg/types', { headers: { apikey: fixture.serviceKey } });
    for (const response of [await reply.text(), await signUp.text(), await types.text()]) {
      expect(response).toContain(m.databaseNotReady());
      expect(response).not.toMatch(/modest|grant|create role/);
    }
    const { detail } = (await overview(fixture)).error;
    expect(detail).toContain('create role service_role nologin noinherit bypassrls;');
    expect(detail).toContain('grant create on database "modest_rows" to "modest";');
    return /in the database modest_rows: (.*)$/s.exec(detail)?.[1] ?? '';
  })();
  const directClient = new pg.Client({ connectionString: new URL('/modest_rows', server.url).href });
  await directClient.connect();
  await directClient.query(orders);
  await directClient.end();

  await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
  await fixture.sql('create table notes (id int primary key, owner uuid default auth.uid(), body text)');
  await fixture.sql(
    'alter table notes enable row level security; create policy own on notes to authenticated using (owner = auth.uid())',
  );
  const [ann, bob] = [randomUUID(), randomUUID()];
  const as = (person: string, id: number): Promise<Response> =>
    fixture.request('/rest/v1/notes', {
      method: 'POST',
      headers: { 'content-type': 'application/json', Authorization: `Bearer ${fixture.token(person)}` },
      body: JSON.stringify({ id }),
    });
  expect([(await as(ann, 1)).status, (await as(bob, 2)).status]).toEqual([201, 201]);
  const memberRows = await fixture.request('/rest/v1/notes?select=id', {
    headers: { Authorization: `Bearer ${fixture.token(ann)}` },
  });
  expect(await memberRows.json()).toEqual([{ id: 1 }]);
  const all = await fixture.request('/rest/v1/notes?select=id', { headers: { apikey: fixture.serviceKey } });
  expect(await all.json()).toEqual([{ id: 1 }, { id: 2 }]);
  expect(await (await fixture.request('/rest/v1/notes')).json()).toEqual([]);
  expect((await overview(fixture)).inside.limits).toHaveLength(1);
  const signedUp = await fixture.request('/auth/v1/signup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"a@example.com","password":"correct horse"}',
  });
  expect(signedUp.status).toBe(200);

  // Tables of other programs are found although no trigger reports them.
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query('create table later (id int primary key)');
  await other.end();
  await expect.poll(async () => (await fixture.request('/rest/v1/later')).status).toBe(200);
});

test('needs no administrator for a user that may create roles and bypass row security', async () => {
  const url = await addressFor('capable', 'createrole bypassrls', true);
  for (const role of ['anon', 'authenticated', 'service_role'])
    await admin.query(`grant ${role} to capable with admin option`);
  await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
  await fixture.sql('create table notes (id int primary key)');
  const reply = await fixture.request('/rest/v1/notes', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"id":1}',
  });
  expect(reply.status).toBe(201);
});

const signUp = (fixture: DataFixture, name: string): Promise<Response> =>
  fixture.request('/auth/v1/signup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.com`, password: 'correct horse' }),
  });
/** Objects that the event triggers of a superuser report in one batch. */
const listTriggers = async (url: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(`select e.evtname as name, r.rolsuper as "ofSuperuser" from pg_event_trigger e
    join pg_proc p on p.oid = e.evtfoid join pg_roles r on r.oid = p.proowner order by 1`);
  await client.end();
  return rows;
};
const triggers = [
  { name: 'homeport_schema_changed', ofSuperuser: true },
  { name: 'homeport_schema_dropped', ofSuperuser: true },
];

test('completes the schema when a superuser follows another user', async () => {
  const limited = await addressFor('early', 'createrole bypassrls', true);
  for (const role of ['anon', 'authenticated', 'service_role'])
    await admin.query(`grant ${role} to early with admin option`);
  {
    await using fixture = await openDataFixture({ environment: { DATABASE_URL: limited } });
    await fixture.sql('create table notes (id int primary key)');
    expect((await signUp(fixture, 'ann')).status).toBe(200);
  }
  const url = new URL('/early_rows', server.url).href;
  for (let start = 0; start < 2; start++) {
    await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
    expect((await fixture.request('/rest/v1/notes')).status).toBe(200);
    await fixture.sql(`create table later${start} (id int primary key)`);
    expect((await fixture.request(`/rest/v1/later${start}`)).status).toBe(200);
    expect((await signUp(fixture, `bob${start}`)).status).toBe(200);
    expect((await overview(fixture)).inside.limits).toEqual([]);
    expect(await listTriggers(url)).toEqual(triggers);
    if (start > 0) continue;
    // As in a database restored from a dump.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('drop event trigger homeport_schema_changed; drop event trigger homeport_schema_dropped');
    await client.end();
  }
});

test('lists the grants that a user needs after a superuser, and works after them', async () => {
  const limited = await addressFor('late', 'nocreaterole', false);
  const url = new URL('/late_rows', server.url).href;
  {
    await using fixture = await openDataFixture({ environment: { DATABASE_URL: url } });
    await fixture.sql('create table notes (id int primary key); insert into notes values (1)');
    expect((await signUp(fixture, 'ann')).status).toBe(200);
  }
  const orders = await (async () => {
    await using fixture = await openDataFixture({ environment: { DATABASE_URL: limited } });
    expect((await fixture.request('/rest/v1/notes')).status).toBe(503);
    return /in the database late_rows: (.*)$/s.exec((await overview(fixture)).error?.detail)?.[1] ?? '';
  })();
  expect(orders).toContain('grant usage, create on schema homeport, auth to "late";');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(orders);
  await client.end();
  await using fixture = await openDataFixture({ environment: { DATABASE_URL: limited } });
  expect(await (await fixture.request('/rest/v1/notes')).json()).toEqual([{ id: 1 }]);
  await fixture.sql('create table later (id int primary key)');
  expect((await fixture.request('/rest/v1/later')).status).toBe(200);
  expect((await signUp(fixture, 'bob')).status).toBe(200);
});
