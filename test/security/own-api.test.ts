import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant, Permission } from '../../services/contracts/control/accounts.ts';
import type { RouteAccess } from '../../services/contracts/route-access.ts';
import { sessionHeader } from '../../services/contracts/session.ts';
import { accessPassword, anonymous, openAccessHost, type AccessHost } from '../support/access.ts';
import { api } from '../support/api.ts';
import { operationsOf } from '../support/openapi-calls.ts';
import { readDeclaredRoutes, type DeclaredRoute } from './declared-routes.ts';

/**
 * Who is admitted to each route of Homeport's own API. The rows are the declarations of the contracts, and the expected
 * answers follow from the declared access, so that a new route is covered without a change here. Which objects a caller
 * sees behind a route with the access `objects` is in own-api-objects.test.ts.
 */
const routes = (await readDeclaredRoutes()).toSorted(
  (one, other) => Number(endsSession(one)) - Number(endsSession(other)),
);
const grantedServices = [
  ...new Set(routes.flatMap(({ access }) => (typeof access === 'object' ? access.service : []))),
];

/** Whether a call ends sessions, which the caller with a session makes last. */
function endsSession({ method, path }: DeclaredRoute): boolean {
  return method === 'DELETE' && path === '/api/session';
}

/** Routes that answer without a sign-in, and why. A new one needs a reason here. */
const publicRoutes: Readonly<Record<string, string>> = {
  'GET /api/session': 'tells the page whether it must show the sign-in',
  'POST /api/session': 'is the sign-in',
  'POST /api/session/passkey': 'is a step of the sign-in',
  'POST /api/session/second-step': 'is a step of the sign-in',
  'POST /api/setup': 'creates the first administrator, with the code that only the log has',
  'POST /api/push/acknowledge': 'is called by a click on a notification, with the secret id of the message',
};

interface CallerKind {
  readonly name: string;
  /** Whether the caller is admitted to a route with this access. */
  readonly admits: (access: RouteAccess) => boolean;
}

const isGranted = (access: RouteAccess, permission: 'read' | 'write', services: readonly string[]): boolean =>
  typeof access === 'object' && access.permission === permission && services.includes(access.service);
const isOfPersons = (access: RouteAccess): boolean => access === 'user' || access === 'objects';

/** An account and a limited token of the administrator for each way in which a service can be granted. */
const grantCallers = grantedServices.flatMap((service) => {
  const others = grantedServices.filter((other) => other !== service);
  const kinds = [
    { name: `reads-${service}`, permission: 'read', services: [service] },
    { name: `writes-${service}`, permission: 'write', services: [service] },
    { name: `not-${service}`, permission: 'read-write', services: others },
  ] as const;
  return kinds.map(({ name, permission, services }) => ({
    name,
    grants: services.map((each): Grant => ({ service: each, resource: '*', permission })),
    admits: (access: RouteAccess): boolean =>
      (permission !== 'write' && isGranted(access, 'read', services)) ||
      (permission !== 'read' && isGranted(access, 'write', services)),
  }));
});

const callers: readonly CallerKind[] = [
  { name: anonymous, admits: () => false },
  { name: 'nogrant', admits: isOfPersons },
  { name: 'session', admits: isOfPersons },
  { name: 'service-account', admits: () => false },
  { name: 'administrator', admits: () => true },
  ...grantCallers.map(({ name, admits }) => ({
    name,
    admits: (access: RouteAccess) => isOfPersons(access) || admits(access),
  })),
  ...grantCallers.map(({ name, admits }) => ({ name: `token-${name}`, admits })),
];

let host: AccessHost;
const authorization = new Map<string, Record<string, string>>();

async function post<Reply>(path: string, body: unknown): Promise<Reply> {
  return api(host.rig.url('control'), path, { method: 'POST', body: JSON.stringify(body) });
}

async function createToken(account: string, label: string, scopes?: readonly Grant[]): Promise<void> {
  const body = { label, ...(scopes === undefined ? {} : { scopes }) };
  const { text } = await post<{ readonly text: string }>(`/api/accounts/${account}/tokens`, body);
  authorization.set(label, { Authorization: `Bearer ${text}` });
}

beforeAll(async () => {
  host = await openAccessHost(Object.fromEntries(grantCallers.map(({ name, grants }) => [name, grants])));
  for (const { name } of [...grantCallers, { name: 'nogrant' }]) authorization.set(name, host.authorization(name));
  authorization.set('administrator', host.authorization('admin'));
  const everything = (permission: Permission): Grant[] =>
    grantedServices.map((service) => ({ service, resource: '*', permission }));
  await post('/api/accounts', { name: 'service-account', kind: 'service', grants: everything('read-write') });
  await createToken('service-account', 'service-account');
  for (const { name, grants } of grantCallers) await createToken('ada', `token-${name}`, grants);
  await post('/api/accounts', { name: 'visitor', password: accessPassword });
  const credentials = { name: 'visitor', password: accessPassword };
  const { session } = await post<{ readonly session: string }>('/api/session', credentials);
  authorization.set('session', { [sessionHeader]: session });
});
afterAll(() => host[Symbol.asyncDispose]());

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly allowedOrigin: string | null;
}

/** Calls a route for objects that do not exist and with an empty body: whether the caller is admitted is decided before. */
async function call(route: DeclaredRoute, headers: Record<string, string>): Promise<Answer> {
  const hasBody = route.takesBody || route.takesBytes;
  const reply = await fetch(host.rig.url('control') + route.path.replace(/:\w+/g, 'nothing'), {
    method: route.method,
    headers: { ...headers, ...(hasBody ? { 'Content-Type': 'application/json' } : {}) },
    ...(hasBody ? { body: route.takesBytes ? 'bytes' : '{}' } : {}),
  });
  const text = await reply.text();
  const code = /^\{"error":\{"code":"([^"]*)"/.exec(text)?.[1] ?? '';
  return { status: reply.status, code, allowedOrigin: reply.headers.get('access-control-allow-origin') };
}

describe('every route of the own API', () => {
  it('is declared in the contracts and answered by a service', async () => {
    const document = await api<Parameters<typeof operationsOf>[0]>(host.rig.url('control'), '/api/openapi.json');
    const served = operationsOf(document).map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
    expect(served.toSorted()).toEqual(routes.map(({ name }) => name).toSorted());
    expect(routes.length).toBeGreaterThan(300);
  });

  it('is public only for a reason', () => {
    const open = routes.filter(({ access }) => access === 'public').map(({ name }) => name);
    expect(open.toSorted()).toEqual(Object.keys(publicRoutes).toSorted());
  });

  it.each(callers)('admits and refuses the caller $name as it declares', async ({ name, admits }) => {
    const wrong: string[] = [];
    for (const route of routes) {
      const { status, code } = await call(route, authorization.get(name) ?? {});
      const refused = status === 401 || status === 403;
      const admitted = route.access === 'public' || admits(route.access);
      const fits = admitted ? !refused : status === (name === anonymous ? 401 : 403);
      if (!fits || status >= 500) wrong.push(`${route.name}: ${String(status)} ${code}, admitted ${String(admitted)}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** What a browser says of requests that pages of other sites cause. */
const foreignPages: readonly (readonly [string, Record<string, string>])[] = [
  ['fetch of another site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
  ['fetch of another site in an old browser', { Origin: 'https://evil.example' }],
  ['form of a page without an origin', { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' }],
  ['page on another port of this computer', { Origin: 'http://127.0.0.1:1', 'Sec-Fetch-Site': 'same-site' }],
  ['navigation from another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }],
];

describe('a page of another site', () => {
  it.each(foreignPages)('changes nothing by a %s, even with a remembered sign-in', async (_name, headers) => {
    const wrong: string[] = [];
    for (const route of routes.filter(({ method }) => method !== 'GET')) {
      const { status, code } = await call(route, { ...authorization.get('administrator'), ...headers });
      if (status !== 403 || code !== 'listener.foreign_origin') wrong.push(`${route.name}: ${String(status)} ${code}`);
    }
    expect(wrong).toEqual([]);
  });

  it('reads no answer', async () => {
    const readable: string[] = [];
    for (const route of routes) {
      const [, headers] = foreignPages[0] ?? [];
      const { allowedOrigin } = await call(route, { ...authorization.get('nogrant'), ...headers });
      if (allowedOrigin !== null) readable.push(`${route.name}: ${allowedOrigin}`);
    }
    expect(readable).toEqual([]);
  });
});

/** Addresses of the control listener that are no routes: who may read them. */
const otherAddresses: readonly (readonly [string, readonly (readonly [string, number])[]])[] = [
  [
    '/api/events',
    [
      [anonymous, 401],
      ['token-reads-push', 403],
      ['service-account', 403],
      ['nogrant', 200],
    ],
  ],
  ['/api/openapi.json', [[anonymous, 200]]],
  [
    '/metrics',
    [
      [anonymous, 401],
      ['nogrant', 403],
      ['token-reads-push', 403],
      ['administrator', 200],
    ],
  ],
  [
    '/metrics/git',
    [
      [anonymous, 401],
      ['nogrant', 403],
      ['token-reads-push', 403],
      ['administrator', 200],
    ],
  ],
  [
    '/api/linked/x/api/accounts',
    [
      [anonymous, 404],
      ['nogrant', 404],
    ],
  ],
  [
    '/api/unknown',
    [
      [anonymous, 404],
      ['administrator', 404],
    ],
  ],
];

describe('an address beside the routes', () => {
  it.each(otherAddresses)('%s is answered by who calls it', async (path, expected) => {
    for (const [caller, status] of expected) {
      const reply = await fetch(host.rig.url('control') + path, { headers: authorization.get(caller) ?? {} });
      expect.soft([caller, reply.status]).toEqual([caller, status]);
      await reply.body?.cancel();
    }
  });
});
