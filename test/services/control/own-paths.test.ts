import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  ])('answers %s with status %d and %s', async (path, status, type) => {
    expect(await request(path)).toEqual({ status, type: expect.stringContaining(type) });
  });

  it('refuses other methods on the paths of the service', async () => {
    for (const path of ['/metrics', '/metrics/push', '/api', '/api/openapi.json'])
      expect(await request(path, 'POST'), path).toMatchObject({ status: 405 });
  });
});
