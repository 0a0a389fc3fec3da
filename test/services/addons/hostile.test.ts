import * as m from '#messages/addons-problems';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon, sendJson, type FakeAddonOptions } from './fake-addon.ts';
import {
  buildConfig,
  customPreset,
  getJson,
  makeUser,
  openAddonsHost,
  password,
  readJson,
  fetchStreams,
} from './rig.ts';

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await openAddonsHost();
  url = host.url('addons');
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

type AnswerHandler = NonNullable<FakeAddonOptions['answer']>;
/** Answers stream requests with the given handler, and the manifest as usual. */
const onStream =
  (answer: AnswerHandler): AnswerHandler =>
  (request, response) =>
    request.url?.includes('/stream/') === true ? answer(request, response) : false;
const sendBody =
  (body: unknown): AnswerHandler =>
  (_request, response) => {
    sendJson(response, body);
    return true;
  };

describe('invalid addons', () => {
  const cases: readonly (readonly [string, AnswerHandler, string | RegExp])[] = [
    [
      'drips',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 50);
        response.once('close', () => clearInterval(timer));
        return true;
      },
      /^Up didn’t respond within 1\.2 s\./,
    ],
    ['hangs', () => true, /^Up didn’t respond within 1\.2 s\./],
    [
      'redirects in circles',
      (request, response) => {
        response.writeHead(302, { location: request.url ?? '/' }).end();
        return true;
      },
      /^Up isn’t reachable: More than 5 redirects\./,
    ],
    [
      'returns an HTML page',
      (_request, response) => {
        response.end('<!doctype html><p>Checking your browser</p>');
        return true;
      },
      m.addonReturnedPage({ name: 'Up' }),
    ],
    [
      'returns 50 MB',
      (_request, response) => {
        const part = Buffer.alloc(1024 * 1024, 32);
        let remaining = 50;
        const overrides = (): void => {
          while (remaining > 0 && !response.destroyed) {
            remaining -= 1;
            if (!response.write(part)) return void response.once('drain', overrides);
          }
          response.end();
        };
        overrides();
        return true;
      },
      m.addonResponseTooLarge({ name: 'Up' }),
    ],
    ['has no list', sendBody({ streams: { a: 1 } }), m.addonListMissing({ name: 'Up', member: 'streams' })],
    ['has null as a list', sendBody({ streams: null }), m.addonListMissing({ name: 'Up', member: 'streams' })],
    ['returns an array', sendBody([]), m.addonListMissing({ name: 'Up', member: 'streams' })],
    [
      'has only wrong types',
      sendBody({ streams: [1, null, { url: 5 }, { infoHash: [] }] }),
      m.addonItemsInvalid({ name: 'Up', count: 4 }),
    ],
    [
      'reports a wrong key',
      sendBody({ streams: [{ name: 'Up', title: 'Invalid API key', url: 'http://h.example/x' }] }),
      m.addonSays({ name: 'Up', message: 'Up Invalid API key' }),
    ],
    [
      'redirects to the control listener',
      (_request, response) => {
        response.writeHead(302, { location: `${host.url('control')}/api/health` }).end();
        return true;
      },
      m.addressOfAdministration({ name: 'Up' }),
    ],
  ];
  it.each(cases)('reports an addon that %s, and lists the streams of other addons', async (_case, answer, sentence) => {
    await using good = await openFakeAddon({ streams: alphaStreams });
    await using bad = await openFakeAddon({ answer: onStream(answer) });
    const presets = [
      customPreset('g1', 'Good', good.manifestUrl),
      customPreset('u1', 'Up', bad.manifestUrl, { timeout: 1200 }),
    ];
    const { base } = await makeUser(host, buildConfig(presets));
    const streams = await fetchStreams(base);
    expect(streams).toHaveLength(alphaStreams.length + 1);
    expect(streams.at(-1)).toMatchObject({
      name: '[❌] Up',
      description: typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
    });
  });

  it('ignores invalid UTF-8 and nulls', async () => {
    const nulls = {
      name: null,
      title: null,
      url: 'http://h.example/a.mkv',
      infoHash: null,
      fileIdx: null,
      subtitles: null,
      sources: null,
      behaviorHints: { filename: null, videoSize: null, bingeGroup: null },
    };
    await using bad = await openFakeAddon({
      answer: onStream((_request, response) => {
        const json = Buffer.from(
          JSON.stringify({ streams: [nulls, { name: 'BROKEN', url: 'http://h.example/b.mkv' }] }),
        );
        response.end(Buffer.from(json.map((byte, byteIndex) => (byteIndex === json.indexOf('BROKEN') ? 0xff : byte))));
        return true;
      }),
    });
    const { base } = await makeUser(host, buildConfig([customPreset('u1', 'Up', bad.manifestUrl)]));
    const streams = await fetchStreams(base);
    expect(streams).toHaveLength(2);
    expect(JSON.stringify(streams)).not.toContain('null');
  });

  it('caches a late response and shares simultaneous requests', async () => {
    const gate = Promise.withResolvers<void>();
    await using slow = await openFakeAddon({
      answer: onStream(async (_request, response) => {
        await gate.promise;
        sendJson(response, { streams: alphaStreams });
        return true;
      }),
    });
    const { base } = await makeUser(host, buildConfig([customPreset('u1', 'Up', slow.manifestUrl, { timeout: 1000 })]));
    const [firstList, secondList] = await Promise.all([fetchStreams(base), fetchStreams(base)]);
    expect([firstList, secondList].map((streams) => streams.length)).toEqual([1, 1]);
    gate.resolve();
    await vi.waitFor(async () => expect(await fetchStreams(base)).toHaveLength(alphaStreams.length));
    expect(slow.requests.filter((path) => path.includes('/stream/'))).toHaveLength(1);
  });

  it('does not wait for a slow addon when enough streams have arrived', async () => {
    await using good = await openFakeAddon({ streams: alphaStreams });
    await using slow = await openFakeAddon({ answer: onStream(() => true) });
    const presets = [
      customPreset('g1', 'Good', good.manifestUrl),
      customPreset('s1', 'Slow', slow.manifestUrl, { timeout: 50_000 }),
    ];
    const { base } = await makeUser(
      host,
      buildConfig(presets, { dynamicAddonFetching: { enabled: true, minResults: 3 } }),
    );
    expect(await fetchStreams(base)).toHaveLength(alphaStreams.length);
  });

  it('ends cycles of two configurations', async () => {
    const first = await makeUser(host, buildConfig([]));
    const second = await makeUser(host, buildConfig([customPreset('f1', 'First', first.manifestUrl)]));
    await using up = await openFakeAddon({ streams: alphaStreams });
    const changed = await fetch(`${url}/api/v1/user`, {
      method: 'PUT',
      headers: { authorization: `Basic ${Buffer.from(`${first.uuid}:${password}`).toString('base64')}` },
      body: JSON.stringify({
        config: buildConfig([
          customPreset('s1', 'Second', second.manifestUrl),
          customPreset('u1', 'Up', up.manifestUrl),
        ]),
      }),
    });
    expect(changed.status).toBe(200);
    const streams = await fetchStreams(first.base);
    expect(streams.length).toBeGreaterThanOrEqual(alphaStreams.length);
    expect(streams.length).toBeLessThan(60);
  });
});

describe('invalid configurations', () => {
  const post = async (body: string): Promise<Response> => await fetch(`${url}/api/v1/user`, { method: 'POST', body });
  it.each([
    ['of 10 MB', () => JSON.stringify({ config: buildConfig([], { x: 'a'.repeat(10 * 1024 * 1024) }), password }), 413],
    ['with deep nesting', () => `{"password":"${password}","config":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`, 400],
    ['with invalid JSON', () => '{"config":', 400],
    ['with a list', () => '[]', 400],
    [
      'with two addons with one ID',
      () =>
        JSON.stringify({
          config: buildConfig([
            customPreset('a', 'A', 'http://x/manifest.json'),
            customPreset('a', 'B', 'http://x/manifest.json'),
          ]),
          password,
        }),
      400,
    ],
    [
      'with a timeout of one hour',
      () =>
        JSON.stringify({
          config: buildConfig([customPreset('a', 'A', 'http://x/manifest.json', { timeout: 3_600_000 })]),
          password,
        }),
      400,
    ],
  ])('refuses one %s', async (_case, body, status) => {
    const response = await post(body());
    expect(response.status).toBe(status);
    expect((await readJson(response)).success).toBe(false);
  });

  it('removes prototype keys', async () => {
    const response = await post(
      `{"password":"${password}","config":{"__proto__":{"polluted":1},"presets":[],` +
        '"formatter":{"id":"torrentio"},"sortCriteria":{"global":[]},' +
        '"constructor":{"prototype":{"polluted":1}}}}',
    );
    expect(response.status).toBe(201);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    ['the control listener', () => `${host.url('control')}/manifest.json`],
    [
      'the control listener by another name',
      () => `${host.url('control').replace('127.0.0.1', 'localhost')}/manifest.json`,
    ],
    [
      'the control listener as a number',
      () => `${host.url('control').replace('127.0.0.1', '2130706433')}/manifest.json`,
    ],
    ['a cloud metadata service', () => 'http://169.254.169.254/latest/manifest.json'],
    ['a cloud metadata service as IPv6', () => 'http://[fd00:ec2::254]/manifest.json'],
    ['a file', () => 'file:///etc/manifest.json'],
  ])('refuses %s as an addon', async (_case, address) => {
    const response = await post(JSON.stringify({ config: buildConfig([customPreset('x', 'X', address())]), password }));
    expect(response.status).toBe(400);
    expect((await readJson(response)).error.message).toMatch(/aren’t an addon|isn’t an addon|invalid Manifest URL/);
  });

  it.each(['plain', 'encoded', 'capitals', 'the segment'])('refuses its own address, %s', async (how) => {
    const { uuid, encryptedPassword, manifestUrl } = await makeUser(host, buildConfig([]));
    const form = {
      plain: manifestUrl,
      encoded: manifestUrl.replace(uuid, [...uuid].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')),
      capitals: manifestUrl.replace(uuid, uuid.toUpperCase()),
    };
    const bytes = Buffer.concat([
      Buffer.from([1]),
      Buffer.from(uuid.replaceAll('-', ''), 'hex'),
      Buffer.from(encryptedPassword, 'base64url'),
    ]);
    const address =
      how === 'the segment'
        ? `${url}/${bytes.toString('base64url')}/manifest.json`
        : (form[how as keyof typeof form] ?? '');
    // Each sign-in seals the password again, so the segment must come from the request that is sent.
    const config = buildConfig([customPreset('s', 'Self', how === 'the segment' ? manifestUrl : address)]);
    const response = await fetch(`${url}/api/v1/user`, {
      method: 'PUT',
      headers: { authorization: `Basic ${Buffer.from(`${uuid}:${password}`).toString('base64')}` },
      body: JSON.stringify({ config }),
    });
    expect((await readJson(response)).error.message).toContain('infinite self scraping');
  });

  it('ends expressions without end and reports them', async () => {
    const name = `${'a'.repeat(60)}!.2019.1080p.mkv`;
    await using up = await openFakeAddon({
      streams: [
        { url: 'http://h.example/x', behaviorHints: { filename: name } },
        { url: 'http://h.example/y', behaviorHints: { filename: 'B.2019.CAM.mkv' } },
      ],
    });
    const hostileUser = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl)], { excludedRegexPatterns: ['^(a+)+$', '(a|a)*b$'] }),
    );
    const good = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl)], {
        excludedRegexPatterns: ['\\bcam\\b'],
        preferredRegexPatterns: [{ name: 'Fine', pattern: '/1080p/' }],
      }),
    );
    const streams = await fetchStreams(hostileUser.base);
    expect(streams).toHaveLength(3);
    expect(streams.at(-1).description).toBe(m.patternsTooSlow());
    expect((await fetchStreams(good.base)).map(({ behaviorHints }: any) => behaviorHints.filename)).toEqual([name]);
    const health = await fetch(`${url}/health`);
    expect(health.status).toBe(200);
  });
});

describe('credentials', () => {
  it('are neither in the table nor in an address, and the addon password prevents configurations of strangers', async () => {
    await using testHost = await openAddonsHost({ ADDON_PASSWORD: 'house', SECRET_KEY: 'ab'.repeat(32) });
    const config = buildConfig([], {
      services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'VERY-SECRET-KEY' } }],
    });
    const make = async (overrides: object, headers: Record<string, string> = {}): Promise<Response> =>
      await fetch(`${testHost.url('addons')}/api/v1/user`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ config: { ...config, ...overrides }, password }),
      });
    const refused = await make({ addonPassword: 'wrong' });
    expect([refused.status, (await readJson(refused)).error.code]).toEqual([401, 'ADDON_PASSWORD_INVALID']);
    expect((await make({}, { 'x-addon-password': 'house' })).status).toBe(201);
    const profile = await readJson(await make({ accessKey: 'house' }));
    const { uuid, encryptedPassword } = profile.data;
    const read = await getJson(`${testHost.url('addons')}/api/v1/user`, {
      headers: { authorization: `Basic ${Buffer.from(`${uuid}:${password}`).toString('base64')}` },
    });
    expect(read.data.userData.services[0].credentials.apiKey).toBe('VERY-SECRET-KEY');
    expect(read.data.userData.accessKey).toBeUndefined();
    await testHost.host[Symbol.asyncDispose]();
    const bytes = readFileSync(join(testHost.dataDir, 'addons', 'db.sqlite'));
    expect(bytes.includes(uuid)).toBe(true);
    for (const secret of ['VERY-SECRET-KEY', password, encryptedPassword]) expect(bytes.includes(secret)).toBe(false);
    expect(Buffer.from(encryptedPassword, 'base64url').includes(password)).toBe(false);
    expect(testHost.log.join('\n')).not.toContain('VERY-SECRET-KEY');
  });

  it('are omitted from exports without the password, and former addresses end with a new password', async () => {
    const config = buildConfig([], {
      addonName: 'Mine',
      services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'KEY-OF-MINE' } }],
    });
    const { uuid, base } = await makeUser(host, config);
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${uuid}:${secret}`).toString('base64')}`,
    });
    const redactedExport = await fetch(`${url}/export`, { headers: basic(password) });
    expect(redactedExport.headers.get('content-disposition')).toBe('attachment; filename="Mine-config.json"');
    expect(await redactedExport.text()).not.toContain('KEY-OF-MINE');
    const completeExport = await fetch(`${url}/export?includeCredentials=true`, { headers: basic(password) });
    expect(await completeExport.text()).toContain('KEY-OF-MINE');
    expect((await fetch(`${url}/export`)).status).toBe(401);
    const changed = await fetch(`${url}/api/v1/user/password`, {
      method: 'POST',
      headers: basic(password),
      body: '{"newPassword":"another-one"}',
    });
    expect(changed.status).toBe(200);
    expect((await fetchStreams(base))[0].description).toBe('Invalid UUID or password');
    expect((await fetch(`${url}/api/v1/user`, { headers: basic('another-one') })).status).toBe(200);
  });

  it('limits requests by address and user', async () => {
    await using testHost = await openAddonsHost({ DISABLE_RATE_LIMITS: 'false' });
    const statuses: number[] = [];
    for (let round = 0; round < 22; round += 1)
      statuses.push((await fetch(`${testHost.url('addons')}/api/v1/user`)).status);
    expect(statuses.at(0)).toBe(400);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('proxy', () => {
  it('forwards requests to an addon by ID, and streams with headers and ranges', async () => {
    await using up = await openFakeAddon({
      answer: (request, response) => {
        if (request.url === '/film.mkv') {
          if (request.headers['x-secret'] !== '1') response.writeHead(403).end();
          else
            response
              .writeHead(206, { 'content-type': 'video/x-matroska', 'content-range': 'bytes 1-3/9' })
              .end(`${request.headers.range ?? ''} film`);
        }
        return response.headersSent;
      },
      streams: [
        {
          url: 'http://UP/film.mkv',
          behaviorHints: { filename: 'A.2019.mkv', proxyHeaders: { request: { 'X-Secret': '1' } }, notWebReady: true },
        },
      ],
    });
    const streams = [
      {
        url: `${up.url}/film.mkv`,
        behaviorHints: { filename: 'A.2019.mkv', notWebReady: true, proxyHeaders: { request: { 'X-Secret': '1' } } },
      },
    ];
    await using listing = await openFakeAddon({ streams });
    const config = buildConfig([customPreset('l1', 'List', listing.manifestUrl)], {
      proxy: { enabled: true, id: 'builtin' },
    });
    const { base } = await makeUser(host, config);
    const [stream] = await fetchStreams(base);
    expect(stream.url).toContain('/api/v1/proxy/e.');
    expect(JSON.stringify(stream)).not.toContain('X-Secret');
    const played = await fetch(stream.url, { headers: { range: 'bytes=1-3' } });
    expect([played.status, played.headers.get('content-range'), await played.text()]).toEqual([
      206,
      'bytes 1-3/9',
      'bytes=1-3 film',
    ]);
    expect((await fetch(`${url}/api/v1/proxy/e.AAAA/x`)).status).toBe(401);

    const { data } = await readJson(await fetch(`${url}/configure`, { method: 'POST', body: JSON.stringify(config) }));
    const passed = await getJson(`${url}/proxy/l1/manifest.json?userId=${String(data.userId)}`);
    expect(passed.name).toBe('Fake');
    expect((await fetch(`${url}/${String(data.userId)}/proxy/zz/manifest.json`)).status).toBe(404);
    expect((await fetch(`${url}/proxy/l1/manifest.json`)).status).toBe(401);
  });
});
