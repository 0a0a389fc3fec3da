import type { Grant } from '../../services/contracts/control/accounts.ts';
import type { RouteAccess } from '../../services/contracts/route-access.ts';
import { sessionHeader } from '../../services/contracts/session.ts';
import { accessPassword, anonymous, openAccessHost, type AccessHost } from '../support/access.ts';
import { api } from '../support/api.ts';
import { readDeclaredRoutes, type DeclaredRoute } from './declared-routes.ts';

/**
 * Expected access to each route of the app API. The rows are the declarations of the contracts, and the expected
 * responses follow from the declared access, so that a new route is covered without a change here. The objects that are
 * visible behind a route with the access `objects` are tested in app-api-objects.test.ts.
 */
export const routes = (await readDeclaredRoutes()).toSorted(
  (one, other) => Number(endsSession(one)) - Number(endsSession(other)),
);
export const grantedServices = [
  ...new Set(routes.flatMap(({ access }) => (typeof access === 'object' ? access.service : []))),
];

/** Returns true for calls that end sessions, which the caller with a session makes last. */
function endsSession({ method, path }: DeclaredRoute): boolean {
  return method === 'DELETE' && path === '/api/session';
}

export interface CallerKind {
  readonly name: string;
  /** Returns true when a caller is admitted to a route with this access. */
  readonly admits: (access: RouteAccess) => boolean;
}

const isGranted = (access: RouteAccess, permission: 'read' | 'write', services: readonly string[]): boolean =>
  typeof access === 'object' && access.permission === permission && services.includes(access.service);
const isOfPersons = (access: RouteAccess): boolean => access === 'user' || access === 'objects';

interface GrantCaller extends CallerKind {
  readonly grants: readonly Grant[];
}

/** Callers for each way in which a service can be granted. */
function createGrantCallers(service: string): readonly GrantCaller[] {
  const others = grantedServices.filter((other) => other !== service);
  const kinds = [
    { name: `reads-${service}`, permission: 'read', services: [service] },
    { name: `writes-${service}`, permission: 'write', services: [service] },
    { name: `not-${service}`, permission: 'read-write', services: others },
  ] as const;
  return kinds.map(({ name, permission, services }) => ({
    name,
    grants: services.map((entry): Grant => ({ service: entry, resource: '*', permission })),
    admits: (access: RouteAccess): boolean =>
      (permission !== 'write' && isGranted(access, 'read', services)) ||
      (permission !== 'read' && isGranted(access, 'write', services)),
  }));
}

/** Callers of the matrix: for each of these services an account and a limited token of the administrator per grant. */
export function createCallers(services: readonly string[]): readonly CallerKind[] {
  const grantCallers = services.flatMap(createGrantCallers);
  return [
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
}

export interface CallResult {
  readonly status: number;
  readonly code: string;
  readonly allowedOrigin: string | null;
}

export interface OwnApi extends AsyncDisposable {
  readonly url: string;
  /** Authentication headers of the callers. */
  getHeaders(caller: string): Record<string, string>;
  /** Calls a route with missing objects and an empty body, since access is checked first. */
  call(route: DeclaredRoute, headers: Record<string, string>): Promise<CallResult>;
  /** Calls every route as a caller and returns the responses that contradict the declared access. */
  findMismatches(caller: CallerKind): Promise<readonly string[]>;
}

/** Opens a host with the callers of {@link createCallers}. */
export async function openOwnApi(services: readonly string[]): Promise<OwnApi> {
  const grantCallers = services.flatMap(createGrantCallers);
  const host = await openAccessHost(Object.fromEntries(grantCallers.map(({ name, grants }) => [name, grants])));
  const url = host.rig.url('control');
  const headers = await signIn(host, grantCallers);
  const call = (route: DeclaredRoute, values: Record<string, string>): Promise<CallResult> => send(url, route, values);
  return {
    url,
    call,
    getHeaders: (caller) => headers.get(caller) ?? {},
    async findMismatches({ name, admits }) {
      const wrong: string[] = [];
      for (const route of routes) {
        const { status, code } = await call(route, headers.get(name) ?? {});
        const refused = status === 401 || status === 403;
        const admitted = route.access === 'public' || admits(route.access);
        const isExpected = admitted ? !refused : status === (name === anonymous ? 401 : 403);
        if (!isExpected || status >= 500)
          wrong.push(`${route.name}: ${String(status)} ${code}, admitted ${String(admitted)}`);
      }
      return wrong;
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/** Creates the accounts, tokens and the session of the callers and returns their authentication headers. */
async function signIn(
  host: AccessHost,
  grantCallers: readonly GrantCaller[],
): Promise<ReadonlyMap<string, Record<string, string>>> {
  const headers = new Map<string, Record<string, string>>([['administrator', host.authorization('admin')]]);
  for (const { name } of [...grantCallers, { name: 'nogrant' }]) headers.set(name, host.authorization(name));
  const post = <Reply>(path: string, body: unknown): Promise<Reply> =>
    api(host.rig.url('control'), path, { method: 'POST', body: JSON.stringify(body) });
  const createToken = async (account: string, label: string, scopes?: readonly Grant[]): Promise<void> => {
    const body = { label, ...(scopes === undefined ? {} : { scopes }) };
    const { text } = await post<{ readonly text: string }>(`/api/accounts/${account}/tokens`, body);
    headers.set(label, { Authorization: `Bearer ${text}` });
  };
  const grants = grantedServices.map((service): Grant => ({ service, resource: '*', permission: 'read-write' }));
  await post('/api/accounts', { name: 'service-account', kind: 'service', grants });
  await createToken('service-account', 'service-account');
  for (const caller of grantCallers) await createToken('ada', `token-${caller.name}`, caller.grants);
  const visitor = { name: 'visitor', password: accessPassword };
  await post('/api/accounts', visitor);
  const { session } = await post<{ readonly session: string }>('/api/session', visitor);
  headers.set('session', { [sessionHeader]: session });
  return headers;
}

async function send(url: string, route: DeclaredRoute, headers: Record<string, string>): Promise<CallResult> {
  const hasBody = route.takesBody || route.takesBytes;
  const reply = await fetch(url + route.path.replace(/:\w+/g, 'nothing'), {
    method: route.method,
    headers: { ...headers, ...(hasBody ? { 'Content-Type': 'application/json' } : {}) },
    ...(hasBody ? { body: route.takesBytes ? 'bytes' : '{}' } : {}),
  });
  const text = await reply.text();
  const code = /^\{"error":\{"code":"([^"]*)"/.exec(text)?.[1] ?? '';
  return { status: reply.status, code, allowedOrigin: reply.headers.get('access-control-allow-origin') };
}
