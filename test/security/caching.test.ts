import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccessHost, type AccessHost } from '../support/access.ts';

let access: AccessHost;
beforeAll(async () => {
  access = await openAccessHost({});
  await access.call('admin', 'git', 'POST', '/api/v1/user/repos', { name: 'diary', private: true, auto_init: true });
  await access.call('admin', 'notify', 'POST', '/add/house', { urls: 'json://user:secret-1@127.0.0.1:9' });
  await access.call('admin', 'push', 'POST', '/alerts', 'front door');
});
afterAll(() => access[Symbol.asyncDispose]());

type Call = readonly [service: string, method: string, path: string, body?: object | string];

/** Responses with data of accounts. Some peers send a `Cache-Control` of their own, which clients know. */
const answers: readonly Call[] = [
  ['addons', 'GET', '/api/v1/user'],
  ['addons', 'GET', '/manifest.json'],
  ['control', 'GET', '/api/account'],
  ['control', 'GET', '/api/log'],
  ['control', 'GET', '/api/missing'],
  ['control', 'GET', '/metrics'],
  ['data', 'GET', '/rest/v1/'],
  ['data', 'POST', '/auth/v1/token?grant_type=password', { email: 'a@b.example', password: 'not the password' }],
  ['data', 'GET', '/auth/v1/user'],
  ['downloads', 'GET', '/history'],
  ['downloads', 'GET', '/subscriptions'],
  ['downloads', 'GET', '/metrics'],
  ['git', 'GET', '/api/v1/user'],
  ['git', 'GET', '/api/v1/repos/admin/diary/contents/README.md'],
  ['git', 'GET', '/ada/diary'],
  ['git', 'GET', '/ada/diary.git/info/refs?service=git-upload-pack'],
  ['notify', 'GET', '/json/urls/house'],
  ['notify', 'POST', '/get/house'],
  ['push', 'GET', '/v1/account'],
  ['push', 'GET', '/v1/users'],
  ['push', 'GET', '/alerts/json?poll=1'],
  ['push', 'GET', '/alerts/raw?poll=1'],
  ['push', 'POST', '/alerts', 'back door'],
  ['push', 'GET', '/v1/missing'],
  ['sync', 'POST', '/core/version', {}],
  ['sync', 'POST', '/options/get', {}],
  ['uptime', 'GET', '/api/monitors'],
  ['uptime', 'GET', '/metrics'],
];

describe('a response with data of an account', () => {
  const cases = answers.map((answer) => [`${answer[0]} ${answer[1]} ${answer[2]}`, answer] as const);
  it.each(cases)('is not stored by browsers: %s', async (_name, [service, method, path, body]) => {
    const { headers } = await access.call('admin', service, method, path, body);
    expect(headers.get('cache-control') ?? 'none').toMatch(/no-store|private|no-cache/);
  });
});
