import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anonymous } from '../support/access.ts';
import { api } from '../support/api.ts';
import { listOperations } from '../support/openapi-calls.ts';
import { createCallers, openOwnApi, routes, type OwnApi } from './app-api-matrix.ts';
import { needs } from '../support/requirements.ts';

needs('rclone');

/** Routes without a sign-in, with the reason. A new route requires a reason here. */
const publicRoutes: Readonly<Record<string, string>> = {
  'GET /api/session': 'tells the page whether it must show the sign-in',
  'POST /api/session': 'is the sign-in',
  'POST /api/session/link': 'shows what a one-time link is for, to the holder of its token',
  'POST /api/session/link/use': 'signs in with a one-time link, whose token is the proof',
  'POST /api/session/passkey': 'is a step of the sign-in',
  'POST /api/session/second-step': 'is a step of the sign-in',
  'POST /api/setup': 'creates the first administrator, with the code that only the log has',
  'POST /api/push/acknowledge': 'is called by a click on a notification, with the secret id of the message',
};

/** The other services are in app-api.security.test.ts. */
const services = ['push'];
let ownApi: OwnApi;
beforeAll(async () => {
  ownApi = await openOwnApi(services);
});
afterAll(() => ownApi[Symbol.asyncDispose]());

describe('every route of the app API', () => {
  it('is declared in the contracts and answered by a service', async () => {
    const document = await api<Parameters<typeof listOperations>[0]>(ownApi.url, '/api/openapi.json');
    const served = listOperations(document).map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
    expect(served.toSorted()).toEqual(routes.map(({ name }) => name).toSorted());
    expect(routes.length).toBeGreaterThan(300);
  });

  it('is public only for a reason', () => {
    const open = routes.filter(({ access }) => access === 'public').map(({ name }) => name);
    expect(open.toSorted()).toEqual(Object.keys(publicRoutes).toSorted());
  });

  it.each(createCallers(services))('admits and refuses the caller $name as it declares', async (caller) => {
    expect(await ownApi.findMismatches(caller)).toEqual([]);
  });
});

/** Headers of browsers for requests that pages of other sites send. */
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
      const { status, code } = await ownApi.call(route, { ...ownApi.getHeaders('administrator'), ...headers });
      if (status !== 403 || code !== 'listener.foreign_origin') wrong.push(`${route.name}: ${String(status)} ${code}`);
    }
    expect(wrong).toEqual([]);
  });

  it('reads no answer', async () => {
    const readable: string[] = [];
    for (const route of routes) {
      const [, headers] = foreignPages[0] ?? [];
      const { allowedOrigin } = await ownApi.call(route, { ...ownApi.getHeaders('nogrant'), ...headers });
      if (allowedOrigin !== null) readable.push(`${route.name}: ${allowedOrigin}`);
    }
    expect(readable).toEqual([]);
  });
});

/** Addresses of the control listener that are not routes, with the permitted callers. */
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
  it.each(otherAddresses)('answers %s by caller', async (path, expected) => {
    for (const [caller, status] of expected) {
      const reply = await fetch(ownApi.url + path, { headers: ownApi.getHeaders(caller) });
      expect.soft([caller, reply.status]).toEqual([caller, status]);
      await reply.body?.cancel();
    }
  });
});
