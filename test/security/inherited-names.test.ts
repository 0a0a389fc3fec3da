import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccessHost, type AccessHost } from '../support/access.ts';
import { buildExample, listOperations } from '../support/openapi-calls.ts';

/** Names that every JavaScript object inherits: a table that is read without a check has values for them. */
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

let access: AccessHost;
beforeAll(async () => {
  access = await openAccessHost({});
  await access.call('admin', 'git', 'POST', '/api/v1/user/repos', { name: 'r', auto_init: true });
  await access.call('admin', 'notify', 'POST', '/add/house', { urls: 'push://alerts' });
});
afterAll(() => access[Symbol.asyncDispose]());

/** Bodies are text, so that `__proto__` is a separate field in them. */
type Call = readonly [
  service: string,
  method: string,
  path: string,
  body?: string | undefined,
  headers?: Record<string, string>,
];

const json = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields);
const payloads: readonly string[] = [
  json({ eventType: '@', series: { title: 'x' }, level: '@' }),
  json({ eventType: 'Health', level: '@', message: 'x' }),
  json({ object_kind: 'pipeline', object_attributes: { status: '@', action: '@' }, project: { name: 'x' } }),
  json({ object_kind: 'merge_request', object_attributes: { action: '@', iid: 1 }, project: { name: 'x' } }),
  json({ object_kind: 'build', build_status: '@', build_name: 'x', project_name: 'x' }),
  json({ action: 'completed', workflow_run: { conclusion: '@', name: 'x' }, repository: { full_name: 'a/b' } }),
  json({ check: { name: 'x' }, status: '@' }),
  json({ heartbeat: { status: '@' }, monitor: { name: 'x' }, msg: 'x' }),
  json({ attachments: [{ color: '@', text: 'x' }] }),
  '{"@":{"@":"x"},"body":"x","type":"@","format":"@","tag":"@"}',
];

const calls: readonly Call[] = [
  ...payloads.map((body): Call => ['notify', 'POST', '/notify/house', body]),
  ['notify', 'POST', '/notify', json({ body: 'x', urls: '@://host/', type: '@' })],
  ['notify', 'POST', '/notify', json({ body: 'x', urls: 'opsgenie://key/?priority=@&@=1' })],
  ['notify', 'POST', '/notify', json({ body: 'x', urls: 'push://alerts?priority=@&@=@' })],
  ['notify', 'POST', '/notify', json({ body: 'x', urls: 'popup://?urgency=@' })],
  ['notify', 'POST', '/add/@', json({ config: '@=push://alerts', format: '@' })],
  ['notify', 'POST', '/add/yaml', json({ config: 'urls:\n  - push://alerts:\n    - @: x\n@: x\n', format: 'yaml' })],
  ['notify', 'GET', '/details?all=@&@=@'],
  ['push', 'POST', '/@', 'x', { Priority: '@', Tags: '@', Actions: '@, x, y' }],
  ['push', 'POST', '/', json({ topic: '@', message: 'x', actions: [{ action: '@', label: 'x' }], '@': 'x' })],
  ['push', 'POST', '/t?template=@', '{"@":"x"}'],
  ['push', 'POST', '/t?template=yes&message={{.@}}{{.@.@}}&title={{@}}', '{"@":"x"}'],
  ['push', 'POST', '/t?template=yes&message={{dateInZone "MST" now "@"}}', '{}'],
  ['push', 'PUT', '/t?filename=x.@', 'x'],
  ['push', 'GET', '/t/json?poll=1&priority=@&tags=@&since=@'],
  ['push', 'PATCH', '/v1/account/settings', '{"@":{"@":1},"notification":{"sound":"@"}}'],
  ['uptime', 'POST', '/api/monitors', json({ name: 'x', type: '@', url: 'http://127.0.0.1:1/' })],
  ['uptime', 'POST', '/api/monitors', '{"name":"x","type":"http","url":"http://127.0.0.1:1/","@":{"@":1}}'],
  ['uptime', 'GET', '/api/badge/1/uptime/@?@=@&style=@'],
  ['uptime', 'GET', '/api/status-page/@'],
  ['uptime', 'POST', '/api/push/@'],
  ['control', 'POST', '/api/uptime/import', '{"monitorList":[{"name":"x","type":"@","@":1}],"@":{}}'],
  ['sync', 'POST', '/@', '{}'],
  ['sync', 'POST', '/@/@', '{"@":1}'],
  ['sync', 'POST', '/config/create', json({ name: 'x', type: '@', parameters: { '@': 'x' } })],
  ['sync', 'POST', '/operations/list', '{"fs":"@:","remote":"","@":"x"}'],
  ['sync', 'POST', '/job/batch', json({ inputs: [{ _path: '@' }] })],
  ['git', 'GET', '/api/v1/@'],
  ['git', 'GET', '/@/@'],
  ['git', 'GET', '/api/v1/repos/ada/r/archive/main.@'],
  ['git', 'GET', '/api/v1/repos/ada/r/issues?state=@&type=@&sort=@&@=@'],
  ['git', 'GET', '/api/v1/repos/search?sort=@&order=@&mode=@'],
  [
    'git',
    'POST',
    '/api/v1/repos/ada/r/hooks',
    json({ type: '@', config: { url: 'https://h.example' }, events: ['@'] }),
  ],
  [
    'git',
    'POST',
    '/api/v1/repos/ada/r/hooks',
    '{"type":"gitea","config":{"url":"https://h.example","@":"x"},"events":["@"]}',
  ],
  ['git', 'POST', '/api/v1/repos/ada/r/pulls/1/reviews', json({ event: '@', body: 'x' })],
  ['git', 'POST', '/api/v1/user/repos', '{"name":"@","gitignores":"@","license":"@","readme":"@","@":1}'],
  ['git', 'POST', '/api/v1/repos/ada/r/statuses/main', json({ state: '@', context: '@' })],
  ['data', 'GET', '/rest/v1/@?select=@&order=@.@&@=@.@'],
  ['data', 'POST', '/rest/v1/rpc/@', 'x', { 'Content-Type': '@/@', Prefer: '@=@' }],
  ['data', 'POST', '/auth/v1/token?grant_type=@', '{}'],
  ['data', 'POST', '/auth/v1/verify', json({ type: '@', token: 'x', email: 'a@example.org' })],
  ['data', 'POST', '/auth/v1/signup', '{"email":"b@example.org","password":"correct horse 1","data":{"@":{"@":1}}}'],
  ['data', 'GET', '/@/v1/@'],
  ['downloads', 'POST', '/add', json({ url: 'x', quality: '@', format: '@', download_type: '@', codec: '@' })],
  ['downloads', 'POST', '/delete', json({ where: '@', ids: ['@'] })],
  ['downloads', 'GET', '/download/@.@'],
  ['downloads', 'POST', '/subscriptions/update', '{"id":"@","@":1}'],
  [
    'addons',
    'POST',
    '/api/v1/user',
    '{"password":"golden-pass-1","config":{"@":{"@":1},"services":[{"id":"@","enabled":true,"credentials":{"@":"x"}}],' +
      '"presets":[{"type":"@","instanceId":"@","enabled":true,"options":{"@":"x"}}],"formatter":{"id":"@"},' +
      '"sortCriteria":{"@":[],"global":[{"key":"@","direction":"@"}]},"preferredLanguages":["@"]}}',
  ],
  [
    'addons',
    'POST',
    '/api/v1/user',
    '{"password":"golden-pass-1","config":{"presets":[],"services":[],"sortCriteria":{"global":[]},"@":{"@":1}}}',
  ],
  ['addons', 'GET', '/@/@/@.json'],
  ['addons', 'GET', '/api/v1/@?@=@&@=@'],
];

async function send([service, method, path, body, headers]: Call): Promise<[status: number, text: string]> {
  const reply = await fetch(`${access.rig.url(service)}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...access.authorization('admin'), 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return [reply.status, await reply.text()];
}

const withName = (call: Call, name: string): Call =>
  JSON.parse(
    JSON.stringify(call).replaceAll('example.org', '\0').replaceAll('@', name).replaceAll('\0', 'example.org'),
  ) as Call;

let checked = 0;
/** Returns log lines since the last call that report an internal error. */
function unexpected(): readonly string[] {
  const lines = access.rig.log.slice(checked);
  checked += lines.length;
  return lines.filter((line) => / ERROR /.test(line) || /native code|TypeError/.test(line));
}

describe.each(names)('a request with the name %s', (name) => {
  it.each(calls)('is answered by %s: %s %s', async (...testCase) => {
    const call = testCase as unknown as Call;
    const [status, text] = await send(withName(call, name));
    // rclone's protocol answers every failed call with status 500 and the reason.
    const isExpected = status < 500 || status === 502 || status === 503 || call[0] === 'sync';
    expect([isExpected, status, text]).toEqual([true, status, text]);
    expect(text).not.toContain('[native code]');
    expect(unexpected()).toEqual([]);
  });

  it('is answered by every route of the app API', async () => {
    const document = await (await access.call('admin', 'control', 'GET', '/api/openapi.json')).json();
    const nameProxy = new Proxy({}, { get: () => name });
    const failures: unknown[] = [];
    for (const operation of listOperations(document)) {
      if (/restart|restore|put-back|events|\/session|setup|\/log$|\/report$/.test(operation.path)) continue;
      if (operation.takesBytes || operation.path === '/api/account/password') continue;
      const query = new URLSearchParams(
        operation.parameters
          .filter((entry) => entry.in === 'query')
          .flatMap((entry) => [
            [entry.name, name],
            [name, name],
          ]),
      );
      const path = `${operation.path.replaceAll(/\{[^}]+\}/g, name)}?${query.toString()}`;
      const body =
        operation.body === undefined
          ? undefined
          : json(buildExample(operation.body, document, nameProxy, 0) as Record<string, unknown>);
      const [status, text] = await send(['control', operation.method, path, body]);
      if ((status >= 500 && status !== 503) || text.includes('[native code]'))
        failures.push([operation.method, path, status, text]);
    }
    expect(failures).toEqual([]);
    expect(unexpected()).toEqual([]);
  });
});
