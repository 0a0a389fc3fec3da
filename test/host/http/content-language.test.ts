import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registry } from '../../../main/host/services/registry.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

/** Routes without parameters whose replies contain texts for the reader on a new host. Decision 0251 lists all of them. */
const routesWithTexts = [
  '/api/addons/kinds',
  '/api/engines',
  '/api/gateway',
  '/api/gateway/certificate',
  '/api/notify/forms',
  '/api/overview',
  '/api/report',
  '/api/services',
  '/api/settings',
];

describe('the language of a reply of the app API', () => {
  let host: TestHost;
  beforeAll(async () => {
    // The database service would start PostgreSQL.
    host = await openTestHost({ services: registry.filter(({ id }) => id !== 'data') });
  });
  afterAll(() => host[Symbol.asyncDispose]());

  function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: adminAuthorization, 'Accept-Language': 'de-AT, en;q=0.5', ...init.headers };
    return fetch(host.url('control') + path, { ...init, headers });
  }

  it('is named for replies with texts, and caches distinguish it', async () => {
    const reply = await request('/api/settings');
    expect(reply.headers.get('content-language')).toBe('de');
    expect(reply.headers.get('vary')).toContain('Accept-Language');
    // The sections in German are cached for the second reader.
    expect((await request('/api/settings')).headers.get('content-language')).toBe('de');
    expect(
      (await request('/api/settings', { headers: { 'Accept-Language': '' } })).headers.get('content-language'),
    ).toBe('en');
  });

  it('is named for a problem', async () => {
    const reply = await request('/api/accounts/nobody/tokens');
    expect([reply.status, reply.headers.get('content-language')]).toEqual([404, 'de']);
  });

  it('is not named for data, also after a request with a body', async () => {
    const body = JSON.stringify({ name: 'ben', password: 'correct horse battery', role: 'user' });
    const added = await request('/api/accounts', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    const list = await request('/api/accounts');
    for (const { status, headers } of [added, list])
      expect([status, headers.get('content-language'), headers.get('vary')]).toEqual([200, null, null]);
  });

  it('is named by no route without texts', async () => {
    const description = (await (await request('/api/openapi.json')).json()) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    const paths = Object.entries(description.paths).flatMap(([path, methods]) =>
      'get' in methods && !path.includes('{') ? [path] : [],
    );
    const named = await Promise.all(
      paths.map(async (path) => {
        const reply = await request(path);
        await reply.body?.cancel();
        return reply.ok && reply.headers.has('content-language') ? [path] : [];
      }),
    );
    expect(named.flat().sort()).toEqual(routesWithTexts);
  });
});
