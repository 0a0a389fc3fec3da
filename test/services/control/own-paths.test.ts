import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request as rawRequest } from '../../host/http/raw.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

async function request(
  path: string,
  method = 'GET',
): Promise<{ readonly status: number; readonly type: string | null }> {
  const response = await fetch(`${host.url('control')}${path}`, {
    method,
    headers: { authorization: adminAuthorization },
  });
  await response.body?.cancel();
  return { status: response.status, type: response.headers.get('content-type') };
}

it.each(['/metrics', '/%6detrics', '/metrics?module=push'])(
  'answers %s of a service with its metrics',
  async (path) => {
    const response = await fetch(`${host.url('push')}${path}`);
    const text = await response.text();
    expect(text).toMatch(/^# TYPE /m);
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  },
);

describe('listener of the app', () => {
  it.each([
    ['/metrics', 200, 'text/plain'],
    ['/metrics/push', 200, 'text/plain'],
    ['/api', 200, 'text/html'],
    ['/api/openapi.json', 200, 'application/json'],
    ['/api/services', 200, 'application/json'],
    ['/api/unknown', 404, 'application/json'],
    ['/settings/log', 200, 'text/html'],
    ['/metrics/push/more', 200, 'text/html'],
    ['/%61pi/services', 200, 'application/json'],
    ['/api/%75ptime/unknown', 404, 'application/json'],
    ['/api/%6fpenapi.json', 200, 'application/json'],
    ['/%6detrics', 200, 'text/plain'],
    ['/api/', 404, 'application/json'],
    ['/api/%zz', 400, 'application/json'],
    ['/%zz', 400, 'application/json'],
  ])('answers %s with status %d and %s', async (path, status, type) => {
    expect(await request(path)).toEqual({ status, type: expect.stringContaining(type) });
  });

  it.each(['/api/services', '/%61pi/services', '/api/openapi.json'])(
    'answers %s in the absolute form of a request target',
    async (path) => {
      const { host: name, port } = new URL(host.url('control'));
      const headers = [`Host: ${name}`, `Authorization: ${adminAuthorization}`];
      const { status, text } = await rawRequest(Number(port), `GET http://${name}${path}`, headers);
      expect(status).toBe(200);
      expect(text).toMatch(/^content-type: application\/json/im);
    },
  );

  it('refuses other methods on the paths of the service', async () => {
    for (const path of ['/metrics', '/metrics/push', '/api', '/api/openapi.json'])
      expect(await request(path, 'POST'), path).toMatchObject({ status: 405 });
  });
});
