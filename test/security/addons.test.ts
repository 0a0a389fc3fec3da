import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConfig, customPreset, makeUser, readJson, fetchStreams } from '../services/addons/rig.ts';
import { openFakeAddon } from '../services/addons/fake-addon.ts';
import { api } from '../support/api.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';
import { cpuTime } from '../support/cpu-time.ts';

const secret = 'DEBRID-KEY-OF-THE-OWNER';
let access: AccessHost;
let url: string;
beforeAll(async () => {
  access = await openAccessHost({
    reader: [{ service: 'addons', permission: 'read', resource: '*' }],
    writer: [{ service: 'addons', permission: 'write', resource: '*' }],
    other: [{ service: 'addons', permission: 'write', resource: '*' }],
  });
  url = access.rig.url('addons');
});
afterAll(async () => {
  await access[Symbol.asyncDispose]();
});

const create = async (account: string, config: object): Promise<Response> =>
  access.call(account, 'control', 'POST', '/api/addons/profiles', { config });
const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: secret } }];

describe('configurations by account', () => {
  let owned: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const createProfileUser = async (account: string): Promise<string> =>
      (await readJson(await create(account, buildConfig([], { services })))).uuid;
    owned = { admin: await createProfileUser('admin'), writer: await createProfileUser('writer') };
  });

  it.each<[account: string, owner: string, status: number, showsKeys: boolean]>([
    ['admin', 'admin', 200, true],
    ['admin', 'writer', 200, true],
    ['writer', 'writer', 200, true],
    ['writer', 'admin', 200, false],
    ['other', 'admin', 200, false],
    ['other', 'writer', 200, false],
    ['reader', 'admin', 403, false],
    ['nogrant', 'admin', 403, false],
    ['anonymous', 'admin', 401, false],
  ])('answers %s that reads that of %s with %i, keys %s', async (account, owner, status, showsKeys) => {
    const reply = await access.call(account, 'control', 'GET', `/api/addons/profiles/${owned[owner] ?? ''}`);
    expect([reply.status, (await reply.text()).includes(secret)]).toEqual([status, showsKeys]);
  });

  it('keeps the keys of one that an account saves without seeing them', async () => {
    const path = `/api/addons/profiles/${owned['admin'] ?? ''}`;
    const { config } = await readJson(await access.call('other', 'control', 'GET', path));
    const saved = await access.call('other', 'control', 'PUT', path, { config: { ...config, addonName: 'Renamed' } });
    expect(saved.status).toBe(200);
    const profile = await readJson(await access.call('admin', 'control', 'GET', path));
    expect([profile.config.addonName, JSON.stringify(profile.config).includes(secret)]).toEqual(['Renamed', true]);
  });

  it('gives no password of one that it may not read to an account that inherits from it', async () => {
    const inheriting = (uuid: string): object => buildConfig([], { parentConfig: { uuid, password: '' } });
    expect((await create('writer', inheriting(owned['admin'] ?? ''))).status).toBe(403);
    const reply = await create('writer', inheriting(owned['writer'] ?? ''));
    expect(reply.status).toBe(200);
    const path = `/api/addons/profiles/${(await readJson(reply)).uuid as string}`;
    const save = (account: string, config: object): Promise<Response> =>
      access.call(account, 'control', 'PUT', path, { config });
    const read = async (account: string): Promise<Record<string, any>> =>
      (await readJson(await access.call(account, 'control', 'GET', path))).config;
    expect((await save('other', inheriting(owned['admin'] ?? ''))).status).toBe(403);
    expect((await save('writer', inheriting(owned['admin'] ?? ''))).status).toBe(403);
    expect((await save('admin', inheriting(owned['admin'] ?? ''))).status).toBe(200);
    expect((await read('writer'))['parentConfig']).toEqual({ uuid: owned['admin'], password: '' });
    expect((await save('writer', { ...(await read('writer')), addonName: 'Renamed' })).status).toBe(200);
    expect((await read('admin'))['parentConfig']).toEqual({
      uuid: owned['admin'],
      password: expect.stringMatching(/^.{20,}$/),
    });
  });

  it.each<[what: string, change: (config: Record<string, any>) => object]>([
    ['the address of the proxy', ({ proxy }) => ({ proxy: { ...proxy, url: 'https://evil.example' } })],
    ['the public address of the proxy', ({ proxy }) => ({ proxy: { ...proxy, publicUrl: 'https://evil.example' } })],
    [
      'the address of an addon',
      ({ presets: [preset, ...others] }) => ({
        presets: [{ ...preset, options: { ...preset.options, url: 'https://evil.example' } }, ...others],
      }),
    ],
    [
      'the kind of an addon',
      ({ presets: [preset, ...others] }) => ({
        presets: [
          {
            ...preset,
            type: 'custom',
            options: { ...preset.options, manifestUrl: 'https://evil.example/manifest.json' },
          },
          ...others,
        ],
      }),
    ],
    [
      'a variant',
      () => ({ variants: [{ id: 'v', name: 'V', enabled: true, script: 'set proxy.url = "https://evil.example"' }] }),
    ],
    ['the parent', () => ({ parentConfig: { uuid: owned['writer'], password: '' } })],
  ])('does not let an account without the keys change where they are sent: %s', async (_what, change) => {
    const proxy = { enabled: true, id: 'mediaflow', url: 'https://proxy.example', credentials: secret };
    const presets = [
      {
        type: 'torrentio',
        instanceId: 'a1',
        enabled: false,
        options: { url: 'https://addon.example', apiKey: secret },
      },
    ];
    const created = await readJson(await create('admin', buildConfig([], { services, proxy, presets })));
    const path = `/api/addons/profiles/${created.uuid as string}`;
    const { config } = await readJson(await access.call('other', 'control', 'GET', path));
    const save = async (changes: object): Promise<number> =>
      (await access.call('other', 'control', 'PUT', path, { config: { ...config, ...changes } })).status;
    expect(await save({ addonName: 'Renamed', excludedQualities: ['CAM'] })).toBe(200);
    expect(await save(change(config))).toBe(403);
  });

  it('separates those of a removed account from a later account of its name', async () => {
    const base = access.rig.url('control');
    const account = async (): Promise<unknown> =>
      api(base, '/api/accounts', {
        method: 'POST',
        body: JSON.stringify({
          ...{ name: 'leaver', password: 'velvet-otter-93-lantern' },
          grants: [{ service: 'addons', permission: 'write', resource: '*' }],
        }),
      });
    await account();
    const { uuid } = await readJson(await create('leaver', buildConfig([], { services })));
    await api(base, '/api/accounts/leaver', { method: 'DELETE' });
    await account();
    const reply = await access.call('leaver', 'control', 'GET', `/api/addons/profiles/${uuid}`);
    expect((await reply.text()).includes(secret)).toBe(false);
  });
});

describe('addresses of addons that an account without administration chooses', () => {
  it('never lead to this computer or its network', async () => {
    await using near = await openFakeAddon();
    const port = new URL(near.url).port;
    const hosts = [
      ...['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]'],
      ...[
        '0.0.0.0',
        '127.0.0.1.',
        'sub.localhost',
        '[::]',
        '[0:0:0:0:0:0:0:1]',
        '[::ffff:7f00:1]',
        '10.0.0.1',
        '192.168.0.1',
        '169.254.169.254',
      ],
    ];
    for (const host of hosts) {
      const preset = customPreset('a', 'Near', `http://${host}:${port}/manifest.json`);
      const reply = await access.call('writer', 'control', 'POST', '/api/addons/check', { preset });
      const body = await readJson(reply);
      expect([host, reply.status === 200 && body.works]).toEqual([host, false]);
      expect((await create('writer', buildConfig([preset]))).status).toBe(400);
    }
    expect(near.requests).toEqual([]);
    const preset = customPreset('a', 'Near', near.manifestUrl);
    const checked = await readJson(await access.call('admin', 'control', 'POST', '/api/addons/check', { preset }));
    expect(checked.works).toBe(true);
  });

  it('are not reached by previews, catalogs or lists either', async () => {
    await using near = await openFakeAddon({ streams: [{ name: 'Up', url: 'http://h.example/x' }] });
    const preset = customPreset('a', 'Near', near.manifestUrl);
    const config = buildConfig([preset]);
    await access.call('writer', 'control', 'POST', '/api/addons/preview', { config, type: 'movie', id: 'tt1' });
    await access.call('writer', 'control', 'POST', '/api/addons/catalogs', { config });
    expect(near.requests).toEqual([]);
    const { uuid } = await readJson(await create('admin', config));
    const requestCount = near.requests.length;
    // An account that saves the configuration is responsible for it, and must not approve addresses of the home
    // network.
    const saved = await access.call('writer', 'control', 'PUT', `/api/addons/profiles/${uuid}`, { config });
    expect([saved.status, near.requests.length]).toEqual([400, requestCount]);
  });
});

describe('guessing', () => {
  const basic = (name: string, password: string): Record<string, string> => ({
    Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  });

  it('is slowed down for the password of a configuration, however it is sent', async () => {
    const { uuid } = await makeUser(access.rig, buildConfig([], { services }));
    const ways: readonly ((guess: string) => Promise<Response>)[] = [
      (guess) => fetch(`${url}/api/v1/user`, { headers: basic(uuid, guess) }),
      (guess) => fetch(`${url}/api/v1/search?type=movie&id=tt1`, { headers: basic(uuid, guess) }),
      (guess) => fetch(`${url}/export?includeCredentials=true`, { headers: basic(uuid, guess) }),
      (guess) =>
        fetch(`${url}/api/v1/user`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            config: { ...buildConfig([]), parentConfig: { uuid, password: guess } },
            password: 'secret-1',
          }),
        }),
    ];
    const guesses = Array.from(
      { length: 40 },
      async (_, index) => (await ways[index % ways.length]?.(`guess-${String(index)}`))?.status,
    );
    const statuses = await Promise.all(guesses);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(25);
    expect(statuses.filter((status) => status === 400 || status === 429)).toHaveLength(statuses.length);
  });

  it('does not lock the owner out', async () => {
    const user = await makeUser(access.rig, buildConfig([]));
    const reply = await fetch(`${url}/api/v1/user`, { headers: basic(user.uuid, 'golden-pass-1') });
    expect(reply.status).toBe(200);
    const wrong = await fetch(`${url}/api/v1/user`, { headers: basic(user.uuid, 'wrong') });
    expect(wrong.status).toBe(400);
    expect((await fetch(`${url}/api/v1/user`, { headers: basic(user.uuid, 'golden-pass-1') })).status).toBe(200);
  });
});

describe('costs of expressions of a stranger', () => {
  const film = 'A.Film.2019.1080p.WEB-DL.x264-'.padEnd(380, 'word.');
  const many = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ name: 'Up', url: `http://h.example/${String(index)}` },
      behaviorHints: { filename: `${film}${String(index)}.mkv` },
    }));

  /** Measures the processor time of a call in the host process in ms, without child processes. */
  async function measureWork(run: () => Promise<unknown>): Promise<number> {
    const before = cpuTime();
    await run();
    return cpuTime() - before;
  }

  it('do not delay other services, and the list reports ignored ones', async () => {
    await using up = await openFakeAddon({ streams: many(3000) });
    const presets = [customPreset('u', 'Up', up.manifestUrl, { timeout: 20_000 })];
    const user = await makeUser(access.rig, buildConfig(presets, { deadline: 20_000 }));
    // Names are parsed once, which is not measured.
    await fetchStreams(user.base);
    const withoutThem = await measureWork(() => fetchStreams(user.base, 'movie/tt2'));
    const expressions = Array.from({ length: 40 }, (_, index) => `keyword(streams,'q${String(index)}')`);
    const hostile = await makeUser(
      access.rig,
      buildConfig(presets, { deadline: 20_000, excludedStreamExpressions: expressions }),
    );
    let rows: any[] = [];
    const withThem = await measureWork(async () => {
      rows = await fetchStreams(hostile.base, 'movie/tt2');
    });
    expect(rows.length).toBeGreaterThanOrEqual(3000);
    expect(rows.at(-1).description).toMatch(/has no effect|have no effect/);
    // Evaluated on the event loop, they took two seconds more.
    expect(withThem).toBeLessThan(withoutThem + 1200);
  });

  it.each<[string, object]>([
    ['backtrack without end', { excludedRegexPatterns: ['(\\w+\\.?)+\\1+!$'] }],
    ['need more memory than they may', { excludedRegexPatterns: ['(?:(?:(?:b?){200}){200}){50}!!$'] }],
  ])('ends with the process of expressions that %s', async (_case, more) => {
    await using up = await openFakeAddon({ streams: many(20) });
    const { base } = await makeUser(access.rig, buildConfig([customPreset('u', 'Up', up.manifestUrl)], more));
    const rows = await fetchStreams(base, 'movie/tt3');
    expect(rows.length).toBeGreaterThanOrEqual(20);
    // The next list is evaluated in a separate process.
    expect(await fetchStreams(base, 'movie/tt4')).toHaveLength(rows.length);
  });
});

describe('malformed requests', () => {
  it.each([
    ...[
      '/%ff',
      '/stremio/%ff/x/manifest.json',
      '/stremio/__proto__/constructor/manifest.json',
      '/constructor/manifest.json',
    ],
    ...[
      '/eyJ%ff/manifest.json',
      '/manifest.json?config=%ff',
      '/proxy/__proto__/x?userId=y',
      '/api/v1/debrid/playback/%ff/x',
    ],
    ...[
      '/stremio/u/__proto__/manifest.json',
      '/static/%2e%2e%2fx',
      '/api/v1/user?uuid=%00',
      '/stremio/x/y/stream/movie/%E0%A4%A.json',
    ],
  ])('does not cause a failure of the server for GET %s', async (path) => {
    expect((await fetch(`${url}${path}`, { redirect: 'manual' })).status).toBeLessThan(500);
  });

  it.each(['{', '[]', '5', 'null', '{"config":5,"password":"secret-1"}', '{"__proto__":{"x":1}}'])(
    'is refused for POST /api/v1/user with %s',
    async (body) => {
      for (const path of ['/api/v1/user', '/configure', '/api/v1/format']) {
        const reply = await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        });
        expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true]);
      }
    },
  );

  it('logs no error when a client leaves in the middle of its body', async () => {
    const { port } = new URL(url);
    const socket = connect(Number(port), '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(
      'POST /api/v1/user HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"config":',
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    // The response to the next request follows the cancelled one.
    await (await fetch(`${url}/health`)).text();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { lines } = await api<{ lines: readonly { readonly msg?: string; readonly service?: string }[] }>(
      access.rig.url('control'),
      '/api/log?level=error&service=addons',
    );
    expect(lines).toEqual([]);
  });
});

describe('redirects of upstreams', () => {
  it('do not lead an account to this computer', async () => {
    await using near = await openFakeAddon();
    const server = createServer((_request, response) => response.writeHead(302, { location: near.manifestUrl }).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const preset = customPreset('a', 'Near', `http://127.0.0.1:${String(port)}/manifest.json`);
    const checked = await readJson(await access.call('writer', 'control', 'POST', '/api/addons/check', { preset }));
    server.close();
    expect([checked.works, near.requests]).toEqual([false, []]);
  });
});
