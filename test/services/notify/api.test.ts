import * as problems from '#messages/notify-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, openReceiver, type Offers, type Receiver } from './support.ts';

let host: TestHost;
let receiver: Receiver;
let offers: Offers;

beforeAll(async () => {
  receiver = await openReceiver();
  const probe = createProbe(['inbox', 'push']);
  offers = probe.offers;
  host = await openTestHost({ services: [probe.descriptor, notify, control] });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const json = { 'content-type': 'application/json' };

function call(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(host.url('notify') + path, { method: 'POST', redirect: 'manual', ...init });
}

function lastInbox() {
  return [...offers.inbox.values()].at(-1);
}

describe('POST /notify', () => {
  it("accepts a multipart form, as Apprise's client sends it", async () => {
    const form = new FormData();
    for (const [name, value] of [
      ['title', 'Ü'],
      ['body', 'häppy'],
      ['type', 'warning'],
      ['tag', 'all'],
      ['tag', 'x'],
    ] as const) {
      form.append(name, value);
    }
    const reply = await call('/notify/aggregator', { body: form, headers: { accept: 'application/json' } });
    expect([reply.status, await reply.json()]).toMatchObject([200, { error: null }]);
    expect(lastInbox()).toMatchObject({ title: 'Ü', body: 'häppy', priority: 4 });
  });

  it('reads the key from the header when the path has none', async () => {
    for (const path of ['/notify', '/notify/']) {
      const headers = { ...json, 'x-apprise-config-id': 'aggregator' };
      const reply = await call(path, { headers, body: JSON.stringify({ body: path }) });
      expect(reply.status).toBe(200);
      expect(lastInbox()).toMatchObject({ body: path });
    }
    const configuration = await call('/get', { headers: { 'x-apprise-config-id': 'aggregator' } });
    expect(await configuration.text()).toContain('push://homeport');
  });

  it('accepts plain text as the body, with the title in a header or the query', async () => {
    await call('/notify/aggregator?type=down', {
      headers: { 'content-type': 'text/plain', title: 'From a header' },
      body: 'raw\ntext',
    });
    expect(lastInbox()).toMatchObject({ title: 'From a header', body: 'raw\ntext', priority: 4 });
  });

  it('accepts large bodies, and responds with 431 above the limit and 400 to deep nesting', async () => {
    const large = JSON.stringify({ body: 'x'.repeat(100_000) });
    expect((await call('/notify/aggregator', { headers: json, body: large })).status).toBe(200);
    const form = new URLSearchParams({ body: 'x'.repeat(40_000) });
    expect((await call('/notify/aggregator', { body: form })).status).toBe(200);
    const tooLarge = await call('/notify/aggregator', {
      headers: json,
      body: JSON.stringify({ body: 'x'.repeat(3_200_000) }),
    });
    expect([tooLarge.status, await tooLarge.json()]).toEqual([431, { error: 'JSON Payload provided is to large' }]);
    const nested = await call('/notify/aggregator', { headers: json, body: '['.repeat(1_000_000) });
    expect([nested.status, await nested.json()]).toEqual([400, { error: 'Invalid JSON Payload provided' }]);
    const broken = { 'content-type': 'multipart/form-data' };
    expect((await call('/notify/aggregator', { headers: broken, body: 'x' })).status).toBe(400);
    const unfinished = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await call('/notify/aggregator', { headers: unfinished, body: '--b\r\nContent-Disp' })).status).toBe(400);
  });

  it('formats a structure as text, and refuses a deeply nested one', async () => {
    const send = (body: string) => call('/notify/aggregator', { body, headers: json });
    expect((await send('{"body":{"disk":{"free":1}}}')).status).toBe(200);
    expect(lastInbox()?.body).toBe('{\n  "disk": {\n    "free": 1\n  }\n}');
    const nested = (levels: number, inside: string) => `{"body":${'['.repeat(levels)}${inside}${']'.repeat(levels)}}`;
    expect((await send(nested(5000, ''))).status).toBe(400);
    // Formatted over several lines, the response would be a hundred times as long.
    expect((await send(nested(50, '1,'.repeat(20_000) + '1'))).status).toBe(200);
    expect(lastInbox()?.body).toHaveLength(40_101);
  });

  it('formats the value of a mapping, whatever its type', async () => {
    const send = (query: string, fields: unknown) =>
      call(`/notify/aggregator?${query}`, { headers: json, body: JSON.stringify(fields) });
    expect((await send(':disk.free=body&:host=title', { disk: { free: 12 }, host: 'nas' })).status).toBe(200);
    expect(lastInbox()).toMatchObject({ title: 'nas', body: '12' });
  });

  it('converts payloads of other programs; the query has precedence', async () => {
    const alert = {
      ...{ version: '4', groupKey: '{}', status: 'firing', commonLabels: { alertname: 'Disk' } },
      alerts: [{ status: 'firing', labels: {}, annotations: { summary: 'full' } }],
    };
    const send = (query: string, fields: unknown) =>
      call(`/notify/aggregator?${query}`, { headers: json, body: JSON.stringify(fields) });
    expect((await send('', alert)).status).toBe(200);
    expect(lastInbox()).toMatchObject({
      title: '[FIRING:1] Disk',
      body: '🔥 full',
      priority: 4,
      source: 'alertmanager',
    });
    expect((await send('type=info&title=Mine&format=markdown', alert)).status).toBe(200);
    expect(lastInbox()).toMatchObject({ title: 'Mine', body: '🔥 **full**', priority: 3, format: 'markdown' });
    expect((await send('tag=nobody', alert)).status).toBe(424);
    expect((await send('', { message: 'm', tag: 'nobody' })).status).toBe(424);
    expect((await send('', { ...alert, tag: 'nobody', body: 'mine' })).status).toBe(424);
    expect((await send(':x=title', alert)).status).toBe(400);
  });

  it.each([
    ['aggregator', 'nobody', 'No destination of the key aggregator has the tag nobody.'],
    ['aggregator', 'a b,1:c', 'No destination of the key aggregator has the tags a and b, or 1:c.'],
    ['', 'x', 'Destinations that come with a call have no tags, so a tag reaches none of them.'],
  ])('reports why no destination matches: key "%s", tag "%s"', async (key, tag, why) => {
    const fields = { body: 'x', tag, ...(key === '' ? { urls: 'inbox://' } : {}) };
    const path = key === '' ? '/notify' : `/notify/${key}`;
    const inJson = await call(path, { headers: json, body: JSON.stringify(fields) });
    expect([inJson.status, await inJson.json()]).toMatchObject([
      424,
      {
        error: expect.stringMatching(/^One or more notifications? could not be sent$/),
        details: [['ERROR', expect.any(String), why]],
      },
    ]);
    const inText = await call(path, { body: new URLSearchParams(fields) });
    expect([inText.status, await inText.text()]).toEqual([424, expect.stringContaining(why)]);
  });

  it('reports why no untagged destination matches', async () => {
    const add = { config: 'a=inbox://', format: 'text' };
    expect((await call('/add/tagged', { headers: json, body: JSON.stringify(add) })).status).toBe(200);
    const choice = { method: 'PUT', body: JSON.stringify({ withoutTag: 'untagged' }) };
    await api(host.url('control'), '/api/notify/keys/tagged/options', choice);
    const reply = await call('/notify/tagged', { body: new URLSearchParams({ body: 'x' }) });
    expect([reply.status, await reply.text()]).toEqual([
      424,
      expect.stringContaining('All destinations of the key tagged have tags, and the call names none.'),
    ]);
  });

  it("accepts JSON with the content type of a form, curl's default", async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = ' {"title": "Tür", "body": "a=b&c=d", "type": "warning"}';
    expect((await call('/notify/aggregator', { headers: form, body })).status).toBe(200);
    expect(lastInbox()).toMatchObject({ title: 'Tür', body: 'a=b&c=d', priority: 4 });
    expect((await call('/notify/aggregator', { headers: form, body: '{"body"=x' })).status).toBe(400);
  });

  it('reads the JSON of Uptime Kuma, also in a form', async () => {
    const body = new FormData();
    const payload = { heartbeat: { status: 0, msg: 'timeout' }, monitor: { name: 'NAS' }, msg: '[NAS] [Down] timeout' };
    body.append('data', JSON.stringify(payload));
    expect((await call('/notify/aggregator', { body })).status).toBe(200);
    expect(lastInbox()).toMatchObject({ title: 'NAS is down', source: 'uptime kuma' });
  });

  it('reads the JSON of webhooks that post a form', async () => {
    const payload = JSON.stringify({ zen: 'Speak like a human.', hook_id: 1, repository: { full_name: 'o/r' } });
    const reply = await call('/notify/aggregator', { body: new URLSearchParams({ payload }) });
    expect(reply.status).toBe(200);
    expect(lastInbox()).toMatchObject({ title: '[o/r] The webhook works', body: 'Speak like a human.' });
    expect((await call('/notify/aggregator', { body: new URLSearchParams({ payload: '{' }) })).status).toBe(400);
  });

  it('refuses too many destinations in one call', async () => {
    const urls = Array.from({ length: 1001 }, (_, index) => `push://t${index}`);
    const reply = await call('/notify', { body: JSON.stringify({ body: 'x', urls }), headers: json });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: expect.stringContaining('at most 1000') }]);
  });

  it('returns only lines of the requested log level', async () => {
    const headers = { ...json, 'x-apprise-log-level': 'WARNING' };
    const reply = await call('/notify/aggregator', { headers, body: '{"body":"x"}' });
    expect(await reply.json()).toEqual({ error: null, details: [] });
  });

  it('removes NUL characters, which some databases reject', async () => {
    await call('/notify/aggregator', { headers: json, body: '{"body":"a\\u0000b"}' });
    expect(lastInbox()).toMatchObject({ body: 'ab' });
  });

  it('replaces lone surrogates, which some services reject', async () => {
    await call('/notify/aggregator', { headers: json, body: '{"title":"\\udc00t","body":"a\\ud83d 🎉"}' });
    expect(lastInbox()).toMatchObject({ title: '\ufffdt', body: 'a\ufffd 🎉' });
  });
});

describe('POST /add', () => {
  const add = (fields: unknown) => call('/add/kept', { headers: json, body: JSON.stringify(fields) });

  it('stores a configuration byte for byte', async () => {
    const config = '\ufeff# ünïcode 🎉\r\n\r\n  a , b =  json://h/p?x=y  \n;c\n';
    expect((await add({ config, format: 'text' })).status).toBe(200);
    const body = await (await call('/get/kept')).arrayBuffer();
    expect(Buffer.from(body).equals(Buffer.from(config))).toBe(true);
  });

  it('reports lines and URLs without effect', async () => {
    const partialConfiguration = await add({ config: 'json://h\nnosuch://token\n', format: 'text' });
    expect([partialConfiguration.status, await partialConfiguration.json()]).toMatchObject([
      200,
      {
        error: null,
        details: [
          ['WARNING', expect.any(String), `Line 2 does nothing: ${problems.schemeUnsupported({ scheme: 'nosuch' })}`],
        ],
      },
    ]);
    const urls = await add({ urls: 'json://h, nosuch://x' });
    expect(await urls.json()).toMatchObject({
      error: null,
      details: [['WARNING', expect.any(String), expect.stringContaining('URL 2')]],
    });
    const long = await add({ config: `#${'x'.repeat(600_000)}`, format: 'text' });
    expect([long.status, await long.json()]).toEqual([400, { error: 'The configuration payload is too large' }]);
  });
});

describe('other addresses', () => {
  it('describes the state and the supported services', async () => {
    const status = await call('/status/', { method: 'GET', headers: { accept: 'application/json' } });
    expect(await status.json()).toMatchObject({ config_lock: false, status: { details: ['OK'] } });
    const details = await call('/details', { method: 'GET', headers: { accept: 'application/json' } });
    const { schemas } = (await details.json()) as { schemas: { service_name: string }[] };
    expect(schemas.map(({ service_name }) => service_name)).toEqual(
      expect.arrayContaining(['Inbox', 'Push', 'JSON', 'ntfy']),
    );
  });

  it('shares one status check among simultaneous requests', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, () => call('/status', { method: 'GET' })));
    expect(new Set(all.map((reply) => reply.status))).toEqual(new Set([200]));
    expect(await all[0]?.text()).toBe('OK');
  });

  it('sets no cookie and forbids caching', async () => {
    const { headers } = await call('/status', { method: 'GET' });
    expect(headers.get('cache-control')).toBe('max-age=0, no-cache, no-store, must-revalidate, private');
    expect([headers.has('set-cookie'), headers.has('x-powered-by')]).toEqual([false, false]);
  });
});

describe('credentials', () => {
  it('refuses wrong credentials even if none are required', async () => {
    const headers = { ...json, authorization: `Basic ${Buffer.from('ada:wrong').toString('base64')}` };
    const reply = await call('/notify/aggregator', { headers, body: '{"body":"x"}' });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(Object.keys((await reply.json()) as object)).toEqual(['error']);
    const right = { ...json, authorization: adminAuthorization };
    expect((await call('/notify/aggregator', { headers: right, body: '{"body":"x"}' })).status).toBe(200);
    expect(admin.name).toBe('ada');
  });
});
