import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccessHost, type AccessHost } from '../support/access.ts';

let access: AccessHost;
beforeAll(async () => {
  access = await openAccessHost({});
  await access.call('admin', 'git', 'POST', '/api/v1/user/repos', { name: 'r', auto_init: true });
});
afterAll(() => access[Symbol.asyncDispose]());

const levels = [90, 2000, 100_000];
const shapes: Readonly<Record<string, (count: number) => string>> = {
  lists: (count) => `${'['.repeat(count)}${']'.repeat(count)}`,
  objects: (count) => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`,
};
const config = '"presets":[],"services":[],"sortCriteria":{"global":[]}';
/** The nested value replaces `@`. */
const requests: readonly (readonly [service: string, path: string, body: string, method: string])[] = [
  ['notify', '/notify/house', '@', 'POST'],
  ['notify', '/notify', '{"body":"x","urls":@}', 'POST'],
  ['notify', '/add/house', '{"config":"urls: @","format":"yaml"}', 'POST'],
  ['push', '/', '{"topic":"t","message":"x","actions":@}', 'POST'],
  ['push', '/t?template=yes&message={{.}}', '@', 'POST'],
  ['uptime', '/api/monitors', '{"name":"x","type":"http","url":"http://127.0.0.1:1/","extra":@}', 'POST'],
  ['uptime', '/api/monitors', '{"name":"x","type":"mystery","kafkaProducerSaslOptions":@}', 'POST'],
  [
    'control',
    '/api/uptime/import',
    '{"monitorList":[{"name":"x","type":"http","url":"http://127.0.0.1:1/","x":@}]}',
    'POST',
  ],
  ['control', '/api/settings/host', '{"x":@}', 'PATCH'],
  ['control', '/api/addons/profiles', `{"config":{${config},"x":@}}`, 'POST'],
  ['addons', '/api/v1/user', `{"password":"golden-pass-1","config":{${config},"x":@}}`, 'POST'],
  ['sync', '/rc/noop', '{"x":@}', 'POST'],
  ['sync', '/operations/list', '{"fs":@,"remote":""}', 'POST'],
  ['sync', '/job/batch', '{"inputs":@}', 'POST'],
  ['sync', '/config/create', '{"name":"x","type":"local","parameters":@}', 'POST'],
  ['git', '/api/v1/repos/ada/r/issues', '{"title":"x","labels":@}', 'POST'],
  ['git', '/ada/r.git/info/lfs/objects/batch', '{"operation":"download","objects":@}', 'POST'],
  ['data', '/auth/v1/signup', '{"email":"a@example.org","password":"correct horse 1","data":@}', 'POST'],
  ['data', '/rest/v1/rpc/x', '@', 'POST'],
  ['downloads', '/add', '{"url":"http://127.0.0.1:1/","quality":@}', 'POST'],
];

describe.each(levels)('an input of %i levels', (count) => {
  it.each(requests)('does not break %s at %s', async (service, path, body, method) => {
    for (const shape of Object.values(shapes)) {
      const seen = access.rig.log.length;
      const reply = await fetch(`${access.rig.url(service)}${path}`, {
        method,
        headers: { ...access.authorization('admin'), 'Content-Type': 'application/json' },
        body: body.replace('@', shape(count)),
      });
      const text = await reply.text();
      expect(text).not.toContain('an internal error');
      expect([reply.status < 500 || service === 'sync' || reply.status === 503, text]).toEqual([true, text]);
      expect(access.rig.log.slice(seen).filter((line) => / ERROR |RangeError/.test(line))).toEqual([]);
    }
  });
});

describe('a monitor with a nested field', () => {
  it('does not end the process that checks', async () => {
    const errors = access.rig.log.filter((line) => line.includes('checker process ended'));
    expect(errors).toEqual([]);
  });
});
