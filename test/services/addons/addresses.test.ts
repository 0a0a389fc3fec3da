import * as m from '#messages/addons-problems';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestContextFactory } from '../../../services/addons/stremio-api/request-context-factory.ts';
import { markGatewayRequest } from '../../../services/contracts/gateway.ts';
import { AddressPolicy } from '../../../services/addons/upstream/address-policy.ts';
import type { Random } from '../../../services/contracts/service.ts';
import { deriveKeyFromSecret, sealText } from '../../../services/addons/profiles/sealing.ts';
import { registry } from '../../../main/host/services/registry.ts';
import { addons } from '../../../services/addons/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon } from './fake-addon.ts';
import { openFakeStore } from './fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, password, readJson, fetchStreams } from './rig.ts';

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await openTestHost({
    services: [addons, ...registry.filter(({ id }) => ['control', 'push'].includes(id))],
    environment: { DISABLE_RATE_LIMITS: 'true' },
  });
  url = host.url('addons');
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

const upName = { name: 'Up' };

describe('addresses that addons must not have', () => {
  it.each([
    ['the control listener', () => `${host.url('control')}/manifest.json`, m.addressOfAdministration(upName)],
    ['another service of Homeport', () => `${host.url('push')}/manifest.json`, m.addressOfService(upName)],
    [
      'another service under another name',
      () => `http://localhost:${String(host.port('push'))}/manifest.json`,
      m.addressOfService(upName),
    ],
    [
      'another service as IPv6',
      () => `http://[::ffff:127.0.0.1]:${String(host.port('push'))}/manifest.json`,
      m.addressOfService(upName),
    ],
    ['a cloud metadata service', () => 'http://169.254.169.254/manifest.json', m.addressOfMetadata(upName)],
    ['a cloud metadata service as a number', () => 'http://2852039166/manifest.json', m.addressOfMetadata(upName)],
    [
      'a cloud metadata service as IPv6',
      () => 'http://[::ffff:169.254.169.254]/manifest.json',
      m.addressOfMetadata(upName),
    ],
    [
      'a cloud metadata service behind NAT64',
      () => 'http://[64:ff9b::a9fe:a9fe]/manifest.json',
      m.addressOfMetadata(upName),
    ],
  ])('refuses %s when it is configured', async (_case, address, expectedMessage) => {
    const response = await post('/api/v1/user', {
      config: buildConfig([customPreset('a', 'Up', address())]),
      password,
    });
    const { error } = await readJson(response);
    expect([response.status, error.code]).toEqual([400, 'USER_INVALID_CONFIG']);
    expect(error.message).toContain(expectedMessage);
  });

  it.each(['301', '302', '303', '307', '308'])('does not follow a redirect (%s) to it', async (status) => {
    const seen: string[] = [];
    const target = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const port = String((target.address() as AddressInfo).port);
    const addresses = [`${host.url('push')}/v1/health`, 'http://169.254.169.254/latest', `http://[::1]:${port}/x`];
    await using bad = await openFakeAddon({
      answer: (request, response) => {
        const match = /\/stream\/movie\/tt(\d)\.json/.exec(request.url ?? '');
        if (match !== null) response.writeHead(Number(status), { location: addresses[Number(match[1])] }).end();
        return match !== null;
      },
    });
    const { base } = await makeUser(host, buildConfig([customPreset('u1', 'Up', bad.manifestUrl)]));
    const descriptions = [];
    for (const index of addresses.keys())
      descriptions.push((await fetchStreams(base, `movie/tt${String(index)}`))[0]?.description);
    expect(descriptions).toEqual([m.addressOfService(upName), m.addressOfMetadata(upName), m.addressPrivate(upName)]);
    expect(seen).toEqual([]);
    await new Promise((resolve) => target.close(resolve));
  });

  it('checks the address a name resolves to and sends the request to that address', async () => {
    const names: Record<string, string[]> = {
      'push.evil.example': ['127.0.0.1'],
      'meta.evil.example': ['93.184.216.34', '169.254.169.254'],
      'home.example': ['192.168.1.9'],
      'out.example': ['93.184.216.34'],
    };
    const policy = new AddressPolicy(
      { address: () => undefined, addresses: () => ['http://127.0.0.1:2586'] },
      () => undefined,
      (name) => Promise.resolve((names[name] ?? []).map((address) => ({ address }))),
    );
    const route = async (address: string, trust: 'owner' | 'other' = 'owner'): Promise<unknown> =>
      await policy.checkAddress(address, 'Up', trust).catch((error: unknown) => (error as Error).message);
    expect(await route('http://push.evil.example:2586/x')).toBe(m.addressOfService(upName));
    expect(await route('http://meta.evil.example/x')).toBe(m.addressOfMetadata(upName));
    // The request is sent to the checked IP address, so a later DNS change has no effect.
    expect(await route('http://home.example:8000/x')).toEqual({
      url: 'http://192.168.1.9:8000/x',
      headers: { host: 'home.example:8000' },
      trust: 'owner',
    });
    expect(await route('http://out.example/x')).toEqual({ url: 'http://out.example/x', headers: {}, trust: 'other' });
    expect(await route('http://gone.example/x')).toMatchObject({ trust: 'other' });
    expect(await route('http://home.example:8000/x', 'other')).toContain(m.addressPrivate(upName));
    expect(await route('http://127.0.0.1:9/x', 'other')).toContain(m.addressPrivate(upName));
    expect(await route('ftp://out.example/x')).toBe(m.addressNotWeb(upName));
  });

  it('does not follow redirects of a debrid service to private addresses', async () => {
    await using store = await openFakeStore(() => [302, '', { location: `${host.url('control')}/api/health` }]);
    await using testHost = await openTestHost({
      services: [addons, ...registry.filter(({ id }) => id === 'control')],
      environment: { PROVIDER_H_BASE_URL: store.url, DISABLE_RATE_LIMITS: 'true' },
    });
    store.fail('/', [302, '', { location: `${testHost.url('control')}/api/health` }]);
    await using up = await openFakeAddon({ streams: [{ infoHash: 'a'.repeat(40), title: 'A.2019.1080p.mkv' }] });
    const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: 'K' } }];
    const { base } = await makeUser(testHost, buildConfig([customPreset('u1', 'Up', up.manifestUrl)], { services }));
    expect((await fetchStreams(base)).at(-1).description).toContain(m.addressOfAdministration({ name: 'TorBox' }));
  });

  it('does not forward a stream of a public addon to the home network', async () => {
    const secret = 'cd'.repeat(32);
    await using testHost = await openTestHost({
      services: [addons, ...registry.filter(({ id }) => id === 'control')],
      environment: { SECRET_KEY: secret, DISABLE_RATE_LIMITS: 'true' },
    });
    await using sourceAddon = await openFakeAddon({ answer: (_request, response) => Boolean(response.end('film')) });
    const random = { bytes: (count: number) => new Uint8Array(count) } as Random;
    const play = async (from: string): Promise<Response> => {
      const target = JSON.stringify({ url: `${sourceAddon.url}/film.mkv`, from });
      const token = sealText(target, deriveKeyFromSecret(secret), random, 'addons.proxy').toString('base64url');
      return await fetch(`${testHost.url('addons')}/api/v1/proxy/e.${token}/film.mkv`);
    };
    expect(await (await play(sourceAddon.manifestUrl)).text()).toBe('film');
    const refused = await play('http://93.184.216.34/manifest.json');
    expect([refused.status, (await readJson(refused)).error.message]).toEqual([
      403,
      m.addressPrivate({ name: 'This stream' }),
    ]);
  });

  it('refuses addons on this computer and network when the owner disables them', async () => {
    await using strict = await openTestHost({
      services: [addons, ...registry.filter(({ id }) => id === 'control')],
      environment: { ADDONS_ALLOW_PRIVATE_ADDRESSES: 'false' },
    });
    await using up = await openFakeAddon();
    const refused = await fetch(`${strict.url('addons')}/api/v1/user`, {
      method: 'POST',
      body: JSON.stringify({ config: buildConfig([customPreset('u1', 'Up', up.manifestUrl)]), password }),
    });
    expect((await readJson(refused)).error.message).toContain(m.addressPrivate(upName));
    expect(up.requests).toEqual([]);
  });
});

describe('requests of another site', () => {
  const otherOrigin = { origin: 'https://evil.example' };
  it('limits their configurations to public addresses without accounts of the settings', async () => {
    await using torBox = await openFakeStore(() => [200, { success: true, data: [] }]);
    await using testHost = await openTestHost({
      services: [addons, ...registry.filter(({ id }) => id === 'control')],
      environment: { PROVIDER_H_BASE_URL: torBox.url, PROVIDER_H_API_KEY: 'HOUSE-KEY', DISABLE_RATE_LIMITS: 'true' },
    });
    await using up = await openFakeAddon({ streams: alphaStreams });
    const config = buildConfig([customPreset('u1', 'Up', up.manifestUrl)]);
    const baseUrl = testHost.url('addons');
    const make = async (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
      await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    for (const headers of [otherOrigin, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
      const user = await make('/api/v1/user', { config, password }, headers);
      expect((await readJson(user)).error.message).toContain(m.addressPrivate(upName));
      expect((await make('/configure', config, headers)).status).toBe(400);
    }
    expect((await make('/configure', config, { origin: baseUrl })).status).toBe(201);
    // A configuration in the address is only restricted when the request comes from another site.
    const segment = Buffer.from(JSON.stringify(config)).toString('base64url');
    const [refused] = (await getJson(`${baseUrl}/${segment}/stream/movie/tt1.json`, { headers: otherOrigin })).streams;
    expect(refused.description).toContain(m.addressPrivate(upName));
    expect((await getJson(`${baseUrl}/${segment}/stream/movie/tt1.json`)).streams).toHaveLength(alphaStreams.length);
    // Configurations created from another site keep their restriction, also for players, until the owner saves them.
    const minimalConfig = buildConfig([], { services: [{ id: 'torbox', enabled: true }] });
    const profile = await readJson(await make('/api/v1/user', { config: minimalConfig, password }, otherOrigin));
    const { uuid, encryptedPassword } = profile.data;
    const base = `${baseUrl}/stremio/${String(uuid)}/${String(encryptedPassword)}`;
    const library = { type: 'library', instanceId: 'l', enabled: true, options: {} };
    const put = async (headers: Record<string, string>): Promise<unknown> =>
      await getJson(`${baseUrl}/api/v1/user`, {
        method: 'PUT',
        headers: {
          ...headers,
          authorization: `Basic ${Buffer.from(`${String(uuid)}:${password}`).toString('base64')}`,
        },
        body: JSON.stringify({ config: { ...minimalConfig, presets: [library] } }),
      });
    await put(otherOrigin);
    expect((await getJson(`${base}/manifest.json`)).catalogs).toEqual([]);
    expect(torBox.requests).toEqual([]);
    await put({});
    expect((await getJson(`${base}/manifest.json`)).catalogs).toHaveLength(1);
  });

  it('treats gateway visitors like them, unless they have an account or the addon password', () => {
    const request = { headers: { host: 'nas.local' } } as IncomingMessage;
    markGatewayRequest(request);
    const from = (overrides: object): RequestContextFactory =>
      new RequestContextFactory(
        {
          caller: () => ({ remoteAddress: '192.168.1.9', isCrossSite: false, ...overrides }),
          publicUrl: () => undefined,
        },
        { baseUrl: '' },
        {} as never,
        {} as never,
      );
    const local = { headers: {} } as IncomingMessage;
    expect([
      from({}).isForeign(request),
      from({}).isForeign(request, { hasPassword: true }),
      from({ gatewayIdentity: { kind: 'user' } }).isForeign(request),
      from({ isCrossSite: true }).isForeign(request, { hasPassword: true }),
      from({}).isForeign(local),
    ]).toEqual([true, false, false, true, false]);
  });

  it('plays installed addons', async () => {
    await using up = await openFakeAddon({ streams: alphaStreams });
    const { base } = await makeUser(host, buildConfig([customPreset('u1', 'Up', up.manifestUrl)]));
    const response = await fetch(`${base}/stream/movie/tt1.json`, { headers: { origin: 'https://web.stremio.com' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect((await readJson(response)).streams).toHaveLength(alphaStreams.length);
  });
});
