import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** User routes of the pages, and the rows visible to users. */
let fixture: AuthFixture;
const password = 'correct horse 1';

beforeAll(async () => {
  fixture = await openAuthFixture({ environment: { DATA_ANONYMOUS_SIGN_INS: 'true' } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function api(
  method: string,
  path: string,
  body?: unknown,
  authorization = adminAuthorization,
): Promise<[number, any]> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data/users${path}`, {
    method,
    headers: { Authorization: authorization, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [reply.status, await reply.json()];
}

/** Creates a confirmed user and signs in. */
async function createUser(name: string) {
  const email = `${name}@example.com`;
  const [, created] = await api('POST', '', { email, password });
  const client = fixture.client();
  expect((await client.auth.signInWithPassword({ email, password })).error).toBeNull();
  return { email, path: `/${created.id}`, id: created.id as string, client };
}
type Client = ReturnType<AuthFixture['client']>;
const isSignedIn = async (client: Client): Promise<boolean> => (await client.auth.getUser()).error === null;

test('creates a confirmed user, and refuses an address in use or without a domain', async () => {
  const [status, created] = await api('POST', '', { email: 'Ann@Example.com', password });
  expect([status, created]).toMatchObject([
    200,
    { email: 'ann@example.com', confirmed: true, anonymous: false, sessions: 0, bannedUntil: null, lastSignInAt: null },
  ]);
  expect((await api('POST', '', { email: 'ann@example.com' }))[0]).toBe(409);
  expect((await api('POST', '', { email: 'no address' }))[0]).toBe(400);
});

test('lists users newest first, and finds them by a part of the address', async () => {
  const { id } = await createUser('bea');
  await fixture.client().auth.signInAnonymously();
  const [, result] = await api('GET', '?q=BEA@');
  expect(result).toMatchObject({ total: 1, users: [{ id, sessions: 1, factors: 0, providers: ['email'] }] });
  const [, { users }] = await api('GET', '');
  expect(users.slice(0, 2).map((user: any) => user.anonymous)).toEqual([true, false]);
  expect((await api('GET', '/11111111-1111-4111-8111-111111111111'))[0]).toBe(404);
});

test('bans and unbans a user', async () => {
  const { client, path } = await createUser('cai');
  const [, banned] = await api('PATCH', path, { banned: true });
  expect(banned.bannedUntil).toBeGreaterThan(fixture.clock.now());
  expect((await client.auth.getUser()).error?.code).toBe('user_banned');
  expect((await api('PATCH', path, { banned: false }))[1].bannedUntil).toBeNull();
  expect(await isSignedIn(client)).toBe(true);
});

test('lists the sessions of a user without secrets, and ends one of them', async () => {
  const { client, email, id, path } = await createUser('dee');
  const second = fixture.client();
  expect((await second.auth.signInWithPassword({ email, password })).error).toBeNull();
  const [, detail] = await api('GET', path);
  expect(detail).toMatchObject({ id, sessions: 2, hasPassword: true, providers: ['email'], metadata: {} });
  expect(JSON.stringify(detail)).not.toMatch(/encrypted|token|\$2/);
  const address = { ip: expect.stringMatching(/127\.0\.0\.1|::1/) as string };
  expect(detail.signedIn).toMatchObject([address, address]);
  // This session ends and the other remains; ids of other sessions end nothing.
  expect((await api('DELETE', `${path}/sessions/nothing`))[0]).toBe(200);
  expect((await api('DELETE', `${path}/sessions/${detail.signedIn[0].id}`))[0]).toBe(200);
  const remaining = await Promise.all([client, second].map(isSignedIn));
  expect(remaining.filter(Boolean)).toHaveLength(1);
  expect((await api('GET', path))[1].signedIn.map(({ id: session }: any) => session)).toEqual([detail.signedIn[1].id]);
});

test('ends all sessions of a user with a new password and on request', async () => {
  const { client, email, path } = await createUser('eli');
  expect((await api('PATCH', path, { password: 'a new password' }))[1].sessions).toBe(0);
  expect(await isSignedIn(client)).toBe(false);
  expect((await client.auth.signInWithPassword({ email, password: 'a new password' })).error).toBeNull();
  expect((await api('POST', `${path}/sign-out`))[0]).toBe(200);
  expect(await isSignedIn(client)).toBe(false);
});

test('creates sign-in links with a code', async () => {
  const { email, path } = await createUser('fay');
  const [, link] = await api('POST', `${path}/link`);
  const followed = await fetch(link.link, { redirect: 'manual' });
  expect(followed.headers.get('location')).toContain('#access_token=');
  const [, other] = await api('POST', `${path}/link`);
  const byCode = await fixture.client().auth.verifyOtp({ email, token: other.code, type: 'email' });
  expect(byCode.error).toBeNull();
});

test('deletes a user once', async () => {
  const { path } = await createUser('gus');
  expect((await api('DELETE', path))[0]).toBe(200);
  expect((await api('DELETE', path))[0]).toBe(404);
  expect((await api('GET', '?q=gus'))[1].total).toBe(0);
});

test('counts sessions, refreshes and refusals on the metrics page', async () => {
  const count = async (line: string): Promise<number> => {
    const text = await (await fetch(`${fixture.url}/metrics`)).text();
    const result = text.split('\n').find((entry) => entry.startsWith(line));
    return Number(result?.slice(line.length) ?? Number.NaN);
  };
  const lines = [
    'data_auth_sessions_total{method="password"} ',
    'data_auth_refreshes_total{result="rotated"} ',
    'data_auth_refusals_total{code="invalid_credentials"} ',
  ];
  const before = await Promise.all(lines.map(count));
  const client = fixture.client();
  await client.auth.signUp({ email: 'counted@example.com', password });
  await client.auth.refreshSession();
  await fixture.client().auth.signInWithPassword({ email: 'counted@example.com', password: 'wrong' });
  const after = await Promise.all(lines.map(count));
  expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 1]);
});

test('requires an administrator of Homeport', async () => {
  const [, created] = await api('POST', '', { email: 'guarded@example.com', password });
  for (const authorization of ['', `Bearer ${fixture.serviceKey}`, 'Basic bm9ib2R5OndvcmQ=']) {
    expect((await api('GET', '', undefined, authorization))[0]).toBe(401);
    expect((await api('POST', `/${created.id}/link`, undefined, authorization))[0]).toBe(401);
  }
});

test('limits signed-in users to their own rows', async () => {
  await fixture.sql(`
    create table notes (id bigint generated always as identity primary key,
      owner uuid not null default auth.uid() references auth.users (id) on delete cascade, body text);
    alter table notes enable row level security;
    create policy own on notes for all to authenticated using (owner = auth.uid()) with check (owner = auth.uid());`);
  const people = [fixture.client(), fixture.client()];
  for (const [index, client] of people.entries()) {
    expect((await client.auth.signUp({ email: `person${index}@example.com`, password })).error).toBeNull();
    expect((await client.from('notes').insert({ body: `of ${index}` })).error).toBeNull();
  }
  const seen = await Promise.all(people.map((client) => client.from('notes').select('body')));
  expect(seen.map(({ data }) => data)).toEqual([[{ body: 'of 0' }], [{ body: 'of 1' }]]);
  expect((await fixture.client().from('notes').select('body')).data).toEqual([]);
  const users = await people[0]?.schema('auth').from('users').select('*');
  expect(users?.error?.code).toBe('PGRST106');
  // Refreshed tokens belong to the same user.
  await people[0]?.auth.refreshSession();
  expect((await people[0]?.from('notes').select('body'))?.data).toEqual([{ body: 'of 0' }]);
  const id = (await people[1]?.auth.getUser())?.data.user?.id ?? '';
  expect((await api('DELETE', `/${id}`))[0]).toBe(200);
  expect(await fixture.sql('select body from notes')).toEqual([{ body: 'of 0' }]);
});

test('stores users in an external PostgreSQL', async () => {
  await using database = await openPostgresDatabase();
  await using external = await openAuthFixture({ environment: { DATABASE_URL: database.url } });
  const client = external.client();
  expect((await client.auth.signUp({ email: 'ann@example.com', password })).error).toBeNull();
  expect((await client.auth.refreshSession()).error).toBeNull();
  expect((await client.auth.getUser()).data.user?.email).toBe('ann@example.com');
  expect(await external.sql('select email from auth.users')).toEqual([{ email: 'ann@example.com' }]);
});

test('keeps users, sessions and keys after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-users-'));
  try {
    const client = fixture.client();
    let token: string;
    {
      await using before = await openAuthFixture({ dataDir });
      const { data } = await before.client().auth.signUp({ email: 'stays@example.com', password });
      token = data.session?.refresh_token ?? '';
    }
    await using after = await openAuthFixture({ dataDir });
    const { data, error } = await after.client().auth.refreshSession({ refresh_token: token });
    expect(error).toBeNull();
    expect(data.user?.email).toBe('stays@example.com');
    expect((await client.auth.refreshSession({ refresh_token: token })).error?.code).toBe('refresh_token_not_found');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
