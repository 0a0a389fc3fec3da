import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { data } from '../../services/data/index.ts';
import { dataApi } from '../../services/contracts/data/api.ts';
import { dataCsvApi } from '../../services/contracts/data/csv.ts';
import { dataKeysApi } from '../../services/contracts/data/keys.ts';
import { dataPoliciesApi } from '../../services/contracts/data/policies.ts';
import { savedQueriesApi } from '../../services/contracts/data/queries.ts';
import { dataRowsApi } from '../../services/contracts/data/rows.ts';
import { dataSchemaApi } from '../../services/contracts/data/schema.ts';
import { dataUsersApi } from '../../services/contracts/data/users.ts';
import { signJwt } from '../support/jwt.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';
import { adminAuthorization } from '../support/host.ts';

const jwtSecret = 'a-secret-of-tests-that-is-long-enough';
const [ann, bob] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const now = Math.floor(Date.now() / 1000);
const token = (claims: Record<string, unknown>): string =>
  signJwt({ iss: 'supabase', iat: now, exp: now + 3600, ...claims }, jwtSecret);

/** Callers of the service itself, with their key and, for a user, their token. */
const callers = {
  none: {},
  anon: { apikey: token({ role: 'anon' }) },
  ann: { apikey: token({ role: 'anon' }), Authorization: `Bearer ${token({ role: 'authenticated', sub: ann })}` },
  bob: { apikey: token({ role: 'anon' }), Authorization: `Bearer ${token({ role: 'authenticated', sub: bob })}` },
  service: { apikey: token({ role: 'service_role' }) },
  'forged service': {
    apikey: signJwt({ role: 'service_role', exp: now + 3600 }, 'another secret that is long enough'),
  },
  'account w_data': { Authorization: '' },
  'account admin': { Authorization: adminAuthorization },
} as const;
type Caller = keyof typeof callers;
/** Accounts of Homeport have no access to the database: its clients use keys. */
const accounts: readonly Caller[] = ['account w_data', 'account admin'];

let host: AccessHost;
beforeAll(async () => {
  host = await openAccessHost(
    {
      r_data: [{ service: 'data', resource: '*', permission: 'read' }],
      w_data: [{ service: 'data', resource: '*', permission: 'write' }],
    },
    { services: [data, control], environment: { DATA_JWT_SECRET: jwtSecret } },
  );
  await query(`create table mine (id int primary key, owner uuid not null);
    alter table mine enable row level security;
    create policy own on mine to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
    create table open (id int primary key); insert into open values (1);
    create table closed (id int primary key); revoke all on closed from anon, authenticated;
    insert into closed values (1);
    create function secret() returns int language sql as 'select 1';
    revoke execute on function secret() from public, anon, authenticated;
    insert into mine values (1, '${ann}'), (2, '${bob}')`);
});
afterAll(() => host[Symbol.asyncDispose]());

async function query(text: string): Promise<void> {
  const reply = await request('service', 'POST', '/pg/query', { query: text });
  expect([reply.status, reply.ok ? '' : await reply.text()]).toEqual([200, '']);
}

function request(caller: Caller, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = caller === 'account w_data' ? host.authorization('w_data') : callers[caller];
  return fetch(`${host.rig.url('data')}${path}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json', Prefer: 'return=representation, tx=rollback' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Status and number of returned rows. */
async function outcome(caller: Caller, method: string, path: string, body?: unknown): Promise<string> {
  const reply = await request(caller, method, path, body);
  const answer: unknown = await reply.json().catch(() => undefined);
  return reply.ok && Array.isArray(answer)
    ? `${String(reply.status)} rows ${String(answer.length)}`
    : String(reply.status);
}

const row = (owner: string): object => ({ id: 9, owner });
/** Object, operation, and the expected result per kind of caller: none, anon, ann, bob, service. */
const cases: readonly (readonly [string, string, unknown, readonly [string, string, string, string, string]])[] = [
  ['GET', '/rest/v1/mine', undefined, ['401', '200 rows 0', '200 rows 1', '200 rows 1', '200 rows 2']],
  ['GET', '/rest/v1/mine?id=eq.2', undefined, ['401', '200 rows 0', '200 rows 0', '200 rows 1', '200 rows 1']],
  ['POST', '/rest/v1/mine', row(ann), ['401', '401', '201 rows 1', '403', '201 rows 1']],
  ['PATCH', '/rest/v1/mine?id=eq.1', { id: 8 }, ['401', '200 rows 0', '200 rows 1', '200 rows 0', '200 rows 1']],
  ['PATCH', '/rest/v1/mine?id=eq.1', { owner: bob }, ['401', '200 rows 0', '403', '200 rows 0', '200 rows 1']],
  ['DELETE', '/rest/v1/mine?id=eq.1', undefined, ['401', '200 rows 0', '200 rows 1', '200 rows 0', '200 rows 1']],
  ['GET', '/rest/v1/open', undefined, ['401', '200 rows 1', '200 rows 1', '200 rows 1', '200 rows 1']],
  ['GET', '/rest/v1/closed', undefined, ['401', '401', '403', '403', '200 rows 1']],
  ['POST', '/rest/v1/closed', { id: 5 }, ['401', '401', '403', '403', '201 rows 1']],
  ['DELETE', '/rest/v1/closed?id=eq.1', undefined, ['401', '401', '403', '403', '200 rows 1']],
  ['POST', '/rest/v1/rpc/secret', {}, ['401', '401', '403', '403', '200']],
  ['GET', '/rest/v1/', undefined, ['401', '404', '404', '404', '200']],
  ['POST', '/pg/query', { query: 'select 1 as a' }, ['401', '403', '403', '403', '200 rows 1']],
  ['GET', '/pg/types', undefined, ['401', '403', '403', '403', '200']],
  ['GET', '/auth/v1/user', undefined, ['401', '401', '403', '403', '401']],
  ['GET', '/auth/v1/admin/users', undefined, ['401', '401', '401', '401', '401']],
];

describe('objects of the database by caller', () => {
  it.each(cases)('answers %s %s as the caller may', async (method, path, body, [none, ...rest]) => {
    const kinds = ['anon', 'ann', 'bob', 'service'] as const;
    expect(await outcome('none', method, path, body)).toBe(none);
    for (const account of [...accounts, 'forged service' as const])
      expect(await outcome(account, method, path, body)).toBe('401');
    const answered: string[] = [];
    for (const caller of kinds) answered.push(await outcome(caller, method, path, body));
    if (!path.startsWith('/auth/')) expect(answered).toEqual(rest);
    else expect(answered.every((status) => /^4/.test(status))).toBe(true);
  });

  it('lists the users only for the service key', async () => {
    const { apikey } = callers.service;
    const list = (authorization: string): Promise<Response> =>
      fetch(`${host.rig.url('data')}/auth/v1/admin/users`, { headers: { apikey, Authorization: authorization } });
    expect((await list(`Bearer ${apikey}`)).status).toBe(200);
    expect((await list(callers.ann.Authorization)).status).toBe(403);
  });

  it('names no role but those of requests', async () => {
    for (const role of ['postgres', 'homeport', 'authenticator', 'supabase_admin', 'pg_read_all_data']) {
      const headers = { apikey: callers.anon.apikey, Authorization: `Bearer ${token({ role })}` };
      expect((await fetch(`${host.rig.url('data')}/rest/v1/open`, { headers })).status).toBe(403);
    }
  });
});

describe('the app API by account', () => {
  const apis = [
    dataApi,
    dataCsvApi,
    dataKeysApi,
    dataPoliciesApi,
    savedQueriesApi,
    dataRowsApi,
    dataSchemaApi,
    dataUsersApi,
  ];
  const routes = apis.flatMap((api) =>
    Object.values(api as Readonly<Record<string, { readonly method: string; readonly path: string }>>),
  );

  it.each(routes.map(({ method, path }) => [method, path] as const))(
    'keeps %s %s for administrators',
    async (method, path) => {
      const address = path.replace(':schema', 'public').replace(':name', 'open').replace(':id', ann);
      for (const account of ['anonymous', 'nogrant', 'r_data', 'w_data']) {
        const reply = await host.call(account, 'control', method, address, method === 'GET' ? undefined : {});
        expect([account, reply.status]).toEqual([account, account === 'anonymous' ? 401 : 403]);
      }
    },
  );
});

describe('saved queries of an account', () => {
  const saved = async (): Promise<string[]> => {
    const reply = await host.call('admin', 'control', 'GET', '/api/data/queries');
    const { queries } = (await reply.json()) as { queries: { name: string }[] };
    return queries.map(({ name }) => name);
  };
  const administrator = async (name: string): Promise<void> => {
    const body = { name, password: 'velvet-otter-93-lantern', role: 'admin' };
    expect((await host.call('admin', 'control', 'POST', '/api/accounts', body)).status).toBeLessThan(300);
  };
  const as = (name: string): Record<string, string> => ({
    Authorization: `Basic ${Buffer.from(`${name}:velvet-otter-93-lantern`).toString('base64')}`,
    'Content-Type': 'application/json',
  });
  const base = (): string => host.rig.url('control');

  it('remains with administrators under the name of the removed account', async () => {
    await administrator('temp');
    const body = JSON.stringify({ name: 'secret query', text: 'select 1' });
    const savedQuery = await fetch(`${base()}/api/data/queries`, { method: 'POST', headers: as('temp'), body });
    expect(savedQuery.status).toBeLessThan(300);
    expect((await host.call('admin', 'control', 'DELETE', '/api/accounts/temp')).status).toBeLessThan(300);
    await administrator('temp');
    await expect
      .poll(async () => (await fetch(`${base()}/api/data/queries`, { headers: as('temp') })).json())
      .toMatchObject({ queries: [{ name: 'secret query (temp.removed)' }] });
    expect(await saved()).toEqual(['secret query (temp.removed)']);
  });
});
