import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiRoute } from '../../../services/contracts/api.ts';
import { controlApi } from '../../../services/contracts/control/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { engines } from '../../../services/downloads/engine/engines.ts';
import { control } from '../../../services/control/index.ts';
import { MoodyService } from '../../renderer/memory-services.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

const userAuthorization = `Basic ${Buffer.from('bob:long enough').toString('base64')}`;
let moody: MoodyService;
let host: TestHost;
let url: string;

beforeAll(async () => {
  moody = new MoodyService();
  const serviceWithEngines = { ...moody.descriptor, engines };
  host = await openTestHost({ services: [serviceWithEngines, control], environment: { MOODY_FOLDER: '/srv' } });
  url = host.url('control');
  expect((await sendRequest('POST', '/api/accounts', { body: { name: 'bob', password: 'long enough' } })).status).toBe(
    200,
  );
});
afterAll(() => host[Symbol.asyncDispose]());

interface ApiResponse {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
}

async function sendRequest(
  method: string,
  path: string,
  { body, authorization = adminAuthorization }: { body?: unknown; authorization?: string } = {},
): Promise<ApiResponse> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(authorization === '' ? {} : { Authorization: authorization }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
}

describe('access', () => {
  const routes = Object.entries(controlApi) as [string, ApiRoute<unknown, unknown, unknown>][];
  const filled = (path: string): string => path.replace(/:\w+/g, 'x');

  it.each(routes.filter(([, { access }]) => access !== 'public'))(
    'requires a sign-in for %s',
    async (_, { method, path }) => {
      const response = await sendRequest(method, filled(path), {
        authorization: '',
        ...(method === 'GET' ? {} : { body: {} }),
      });
      expect(response.status).toBe(401);
      expect(response.body).toMatchObject({ error: { detail: expect.any(String) as string } });
    },
  );

  it.each(routes.filter(([, { access }]) => access === 'admin'))(
    'requires an administrator for %s',
    async (_, { method, path }) => {
      const body = method === 'GET' ? {} : { body: {} };
      expect((await sendRequest(method, filled(path), { authorization: userAuthorization, ...body })).status).toBe(403);
    },
  );

  it('answers routes for users without the administrator role', async () => {
    expect((await sendRequest('GET', '/api/services', { authorization: userAuthorization })).status).toBe(200);
  });
});

describe('session', () => {
  it('is empty before a sign-in', async () => {
    const { status, body } = await sendRequest('GET', '/api/session', { authorization: '' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ account: null, setupNeeded: false, safeMode: false, platform: null });
  });

  it('contains the system of the host for accounts', async () => {
    const { body } = await sendRequest('GET', '/api/session', { authorization: userAuthorization });
    expect(body).toMatchObject({ platform: process.platform });
  });

  it('starts with the correct password and ends on request', async () => {
    const { status, body, headers } = await sendRequest('POST', '/api/session', { authorization: '', body: admin });
    const secret = (body as { session: string }).session;
    expect([status, body]).toEqual([200, { name: 'ada', role: 'admin', session: secret }]);
    // Cookies are sent to every port of a host name, and every port may set them.
    expect(headers.getSetCookie()).toEqual([]);
    const session = { headers: { 'Homeport-Session': secret } };
    expect(await (await fetch(`${url}/api/session`, session)).json()).toMatchObject({ account: { name: 'ada' } });
    for (const name of ['homeport_session', 'Homeport-Session', 'homeport-session', '__Host-homeport_session']) {
      const restored = await fetch(`${url}/api/session`, { headers: { Cookie: `${name}=${secret}` } });
      expect(await restored.json()).toMatchObject({ account: null });
    }
    const out = await fetch(`${url}/api/session`, { ...session, method: 'DELETE' });
    expect(out.status).toBe(200);
    expect(await (await fetch(`${url}/api/session`, session)).json()).toMatchObject({ account: null });
  });

  it('refuses a wrong password', async () => {
    const response = await sendRequest('POST', '/api/session', {
      authorization: '',
      body: { name: 'ada', password: 'wrong' },
    });
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
  });
});

describe('services', () => {
  afterEach(() => {
    moody.failure = undefined;
    moody.health = { state: 'up', detail: '3 topics' };
  });

  it('lists services with state and detail', async () => {
    const { body } = await sendRequest('GET', '/api/services');
    expect(body.configProblems).toEqual([]);
    expect(body.services).toContainEqual(expect.objectContaining({ id: 'moody', state: 'up', detail: '3 topics' }));
    expect(body.services).toContainEqual(expect.objectContaining({ id: 'control', state: 'up', address: url }));
  });

  it('reports why a service is degraded', async () => {
    moody.health = { state: 'degraded', detail: 'The upstream is away.' };
    const { body } = await sendRequest('GET', '/api/services');
    expect(body.services).toContainEqual(
      expect.objectContaining({ id: 'moody', state: 'degraded', reason: 'The upstream is away.' }),
    );
  });

  it('restarts a service', async () => {
    moody.failure = new Problem('moody.sulks', 503, 'It does not want to.');
    expect((await sendRequest('POST', '/api/services/moody/restart')).body).toMatchObject({
      state: 'failed',
      reason: 'It does not want to.',
    });
    moody.failure = undefined;
    expect((await sendRequest('POST', '/api/services/moody/restart')).body).toMatchObject({
      state: 'up',
      reason: null,
    });
  });

  it('responds with 404 to an unknown service', async () => {
    expect((await sendRequest('POST', '/api/services/nothing/restart')).status).toBe(404);
  });
});

describe('settings', () => {
  it('returns settings with schema, value and origin, and changes them', async () => {
    const before = await sendRequest('GET', '/api/settings');
    const fields = before.body.sections.find(({ id }: { id: string }) => id === 'moody').fields;
    expect(fields).toContainEqual(expect.objectContaining({ name: 'folder', value: '/srv', lockedBy: 'MOODY_FOLDER' }));
    expect(await sendRequest('PATCH', '/api/settings/moody', { body: { limit: 7 } })).toMatchObject({
      status: 200,
      body: { restarted: ['moody'] },
    });
    const after = await sendRequest('GET', '/api/settings');
    expect(JSON.stringify(after.body)).toContain('"value":7');
  });

  it('rejects invalid settings by field', async () => {
    const { status, body } = await sendRequest('PATCH', '/api/settings/moody', { body: { limit: 70 } });
    expect(status).toBe(422);
    expect(body.error.fields).toHaveProperty(['services.moody.limit']);
  });

  it('responds with 404 to an unknown settings section', async () => {
    expect((await sendRequest('PATCH', '/api/settings/nothing', { body: {} })).status).toBe(404);
  });
});

describe('host routes', () => {
  it('lists engines and rejects an unknown one', async () => {
    expect((await sendRequest('GET', '/api/engines')).body.engines).toBeInstanceOf(Array);
    expect((await sendRequest('POST', '/api/engines/rm/install')).status).toBe(404);
    expect((await sendRequest('POST', '/api/engines/python/install')).status).toBe(404);
    expect((await sendRequest('POST', '/api/engines/rm/verify')).status).toBe(404);
    expect((await sendRequest('POST', '/api/engines/python/verify')).body.name).toBe('python');
    expect((await sendRequest('DELETE', '/api/engines/ffmpeg')).status).toBe(409);
  });

  it('filters the log by level and text', async () => {
    await sendRequest('PATCH', '/api/settings/moody', { body: { name: 'lantern' } });
    const { body } = await sendRequest('GET', '/api/log?text=settings+changed&limit=5');
    expect(body.lines).toContainEqual(expect.objectContaining({ level: 'info', event: 'settings_saved' }));
    expect((await sendRequest('GET', '/api/log?level=loud')).status).toBeGreaterThanOrEqual(400);
  });

  it('responds with 404 when retrying or dropping an unknown job', async () => {
    expect((await sendRequest('GET', '/api/jobs/dead')).body).toEqual({ jobs: [] });
    expect((await sendRequest('POST', '/api/jobs/moody/1/retry')).status).toBe(404);
    expect((await sendRequest('DELETE', '/api/jobs/moody/1')).status).toBe(404);
  });

  it('describes its API', async () => {
    const { status, body } = await sendRequest('GET', '/api/openapi.json', { authorization: '' });
    expect([status, body.openapi.startsWith('3.')]).toEqual([200, true]);
    expect((await sendRequest('POST', '/api/openapi.json', { body: {} })).status).toBe(405);
  });

  it('responds with its own 404 below /api', async () => {
    expect((await sendRequest('GET', '/api/nothing')).status).toBe(404);
  });
});

describe('accounts', () => {
  it('creates, changes and deletes accounts and tokens', async () => {
    const created = await sendRequest('POST', '/api/accounts', {
      body: {
        name: 'cleo',
        kind: 'service',
        description: 'Backs up',
        grants: [{ service: 'push', resource: '*-backup', permission: 'write' }],
      },
    });
    expect(created).toMatchObject({ status: 200, body: { name: 'cleo', hasPassword: false } });
    expect((await sendRequest('POST', '/api/accounts', { body: { name: 'cleo' } })).status).toBe(409);

    const token = await sendRequest('POST', '/api/accounts/cleo/tokens', { body: { label: 'nightly' } });
    expect(token.body.text).toMatch(/^tk_/);
    const listed = await sendRequest('GET', '/api/accounts/cleo/tokens');
    expect(listed.body.tokens).toMatchObject([{ label: 'nightly' }]);
    expect(JSON.stringify(listed.body)).not.toContain(token.body.text);
    expect((await sendRequest('DELETE', `/api/accounts/cleo/tokens/${String(token.body.token.id)}`)).status).toBe(200);
    expect((await sendRequest('GET', '/api/accounts/cleo/tokens')).body.tokens).toEqual([]);

    expect((await sendRequest('PATCH', '/api/accounts/cleo', { body: { enabled: false } })).body.enabled).toBe(false);
    expect((await sendRequest('DELETE', '/api/accounts/cleo')).status).toBe(200);
    expect((await sendRequest('GET', '/api/accounts/cleo/tokens')).status).toBe(404);
    const names = (await sendRequest('GET', '/api/accounts')).body.accounts.map(({ name }: { name: string }) => name);
    expect(names).toContain('ada');
    expect(names).not.toContain('cleo');
  });
});

describe('metrics', () => {
  it('requires an administrator or the grant for metrics', async () => {
    expect((await sendRequest('GET', '/metrics')).body).toContain('control_live_streams');
    expect((await sendRequest('GET', '/metrics/control')).body).toContain('control_live_streams');
    expect((await sendRequest('GET', '/metrics/nothing')).status).toBe(404);
    expect((await sendRequest('GET', '/metrics', { authorization: userAuthorization })).status).toBe(403);
    const anonymous = await sendRequest('GET', '/metrics', { authorization: '' });
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic/),
    ]);

    const grants = [{ service: 'metrics', resource: '*', permission: 'read' }];
    await sendRequest('POST', '/api/accounts', { body: { name: 'prometheus', kind: 'service', grants } });
    const { body } = await sendRequest('POST', '/api/accounts/prometheus/tokens', { body: { label: 'scrape' } });
    const scraped = await sendRequest('GET', '/metrics', { authorization: `Bearer ${String(body.text)}` });
    expect(scraped.status).toBe(200);
    expect(scraped.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  });
});
