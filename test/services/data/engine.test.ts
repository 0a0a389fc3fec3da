import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

test('starts no PostgreSQL before the first request', async () => {
  expect(fixture.host.host.addresses()['data']).toBe(fixture.url);
  expect(fixture.host.log.join('\n')).not.toContain('postgresql cluster created');
});

test('requires a valid API key', async () => {
  const none = await fetch(`${fixture.url}/pg/query`, { method: 'POST' });
  expect([none.status, await none.json()]).toEqual([401, { message: 'No API key found in request' }]);
  const wrong = await fetch(`${fixture.url}/pg/query`, { method: 'POST', headers: { apikey: 'x' } });
  expect([wrong.status, await wrong.json()]).toEqual([401, { message: 'Invalid API key' }]);
  const anon = await fixture.request('/pg/query', { method: 'POST' });
  expect(anon.status).toBe(403);
});

test('starts PostgreSQL with the first request and runs statements as an owner without superuser rights', async () => {
  const rows = await fixture.sql('select current_user as name, usesuper from pg_user where usename = current_user');
  expect(rows).toEqual([{ name: 'postgres', usesuper: false }]);
});

test('creates the roles and functions of policies', async () => {
  const rows = await fixture.sql(
    "select rolname, rolinherit, rolbypassrls from pg_roles where rolname in ('anon', " +
      "'authenticated', 'service_role', 'authenticator') order by 1",
  );
  expect(rows).toEqual([
    { rolname: 'anon', rolinherit: false, rolbypassrls: false },
    { rolname: 'authenticated', rolinherit: false, rolbypassrls: false },
    { rolname: 'authenticator', rolinherit: false, rolbypassrls: false },
    { rolname: 'service_role', rolinherit: false, rolbypassrls: true },
  ]);
  const [claims] = await fixture.sql(
    `select set_config('request.jwt.claims',
      '{"sub":"11111111-1111-1111-1111-111111111111","role":"authenticated","email":"a@b.c"}', false);
     select auth.uid(), auth.role(), auth.email(), auth.jwt()->>'role' as jwt`,
  );
  expect(claims).toEqual({
    uid: '11111111-1111-1111-1111-111111111111',
    role: 'authenticated',
    email: 'a@b.c',
    jwt: 'authenticated',
  });
});
