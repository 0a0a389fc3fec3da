import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alphaStreams, openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import { hashes, openTorBox } from './fake-stores.ts';
import { openEasynews, openPikPak, openPutIo } from './more-fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, readJson, fetchStreams } from './rig.ts';

let upstream: FakeAddon;
beforeAll(async () => {
  upstream = await openFakeAddon({ streams: alphaStreams });
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
});

const config = (overrides: object = {}): Record<string, unknown> =>
  buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], overrides);
const configure = async (body: unknown, headers: Record<string, string>, baseUrl: string): Promise<Response> =>
  await fetch(`${baseUrl}/configure`, { method: 'POST', headers, body: JSON.stringify(body) });

describe('environment variables', () => {
  it('sets name, address and passwords of the addon', async () => {
    const environment = {
      ADDON_NAME: 'House',
      ADDON_ID: 'my.house',
      BASE_URL: 'https://addons.example.org',
      SECRET_KEY: '12'.repeat(32),
      ADDON_PASSWORD: 'knock',
      DISABLE_SELF_SCRAPING: 'true',
      REGEX_FILTER_ACCESS: 'none',
      LOG_SENSITIVE_INFO: 'true',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
      DEFAULT_MAX_CACHE_SIZE: '1',
    };
    await using testHost = await openAddonsHost(environment);
    const baseUrl = testHost.url('addons');
    expect((await configure(config(), {}, baseUrl)).status).toBe(401);
    const passwordHeader = { 'x-addon-password': 'knock' };
    const { data } = await readJson(await configure(config({ excludedRegexPatterns: ['x'] }), passwordHeader, baseUrl));
    expect(data.manifestUrl).toMatch(/^https:\/\/addons\.example\.org\/A/);
    const base = `${baseUrl}/${String(data.userId)}`;
    const manifest = await getJson(`${base}/manifest.json`);
    expect([manifest.name, manifest.id]).toEqual(['House', `my.house.${String(data.uuid).slice(0, 12)}`]);
    expect((await fetchStreams(base)).at(-1).description).toBe(m.patternsNotAllowed());
    const status = (await getJson(`${baseUrl}/api/v1/status`)).data.settings;
    expect(status).toMatchObject({
      baseUrl: 'https://addons.example.org',
      protected: true,
      loggingSensitiveInfo: true,
      regexAccess: { level: 'none' },
    });
    const nested = await configure(
      buildConfig([customPreset('n', 'Nested', `${base}/manifest.json`)]),
      passwordHeader,
      baseUrl,
    );
    expect((await readJson(nested)).error.message).toContain('which the settings don’t allow');
    await fetchStreams(base, 'movie/tt2');
    const dead = await configure(
      buildConfig([customPreset('d', 'Dead', 'http://127.0.0.1:9/k3y/manifest.json')]),
      passwordHeader,
      baseUrl,
    );
    expect(dead.status).toBe(400);
    const lines = testHost.log.map((line) => JSON.parse(line) as { message?: string });
    expect(JSON.stringify(lines)).toContain('http://127.0.0.1:9/k3y/manifest.json');
    // The cache has one entry per kind, so the first title is requested again.
    const before = upstream.requests.length;
    await fetchStreams(base);
    expect(upstream.requests.length).toBe(before + 1);
  });

  it('keeps addresses valid on another computer with SECRET_KEY, and disables rate limits with DISABLE_RATE_LIMITS', async () => {
    const keys = { SECRET_KEY: '34'.repeat(32), DISABLE_RATE_LIMITS: 'true' };
    await using testHost = await openAddonsHost(keys);
    const { base } = await makeUser(testHost, config());
    const statuses = await Promise.all(Array.from({ length: 120 }, () => fetch(`${base}/stream/movie/tt1.json`)));
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200]));
    await using otherHost = await openAddonsHost({ ...keys, SECRET_KEY: '35'.repeat(32) });
    expect((await fetchStreams(base.replace(testHost.url('addons'), otherHost.url('addons'))))[0].name).toBe(
      '[❌] AIOStreams',
    );
  });

  it('listens on PORT', async () => {
    await using probe = await openFakeAddon();
    const free = new URL(probe.url).port;
    await probe[Symbol.asyncDispose]();
    await using testHost = await openAddonsHost({ HOMEPORT_PORT_ADDONS: '', PORT: free });
    expect(testHost.port('addons')).toBe(Number(free));
  });

  it('reads both parts of a sign-in from PROVIDER_x_API_KEY', async () => {
    await using putIo = await openPutIo();
    await using pikPak = await openPikPak();
    await using news = await openEasynews();
    await using torBox = await openTorBox();
    await using meta = await openFakeAddon({
      answer: (request, response) => {
        if (request.url === '/meta/movie/tt1.json') sendJson(response, { meta: { name: 'The Movie', year: '2019' } });
        return response.headersSent;
      },
    });
    await using torrentAddon = await openFakeAddon({
      streams: [{ infoHash: hashes.library, title: 'A.2019.1080p.mkv' }],
    });
    await using testHost = await openAddonsHost({
      ...{ PROVIDER_E_BASE_URL: putIo.url, PROVIDER_E_API_KEY: '1@PUTTOKEN' },
      ...{ PROVIDER_F_BASE_URL: news.url, PROVIDER_F_API_KEY: 'ada:news', METADATA_URL: meta.url },
      ...{ PROVIDER_G_BASE_URL: pikPak.url, PROVIDER_G_AUTH_BASE_URL: pikPak.url },
      ...{
        PROVIDER_G_API_KEY: 'ada@example.org:secret',
        PROVIDER_G_CLIENT_ID: 'CLIENT',
        PROVIDER_G_CLIENT_SECRET: 'S',
      },
      ...{ PROVIDER_H_BASE_URL: torBox.url, PROVIDER_H_API_KEY: 'TBKEY' },
    });
    const services = ['putio', 'pikpak', 'torbox', 'easynews'].map((id) => ({ id, enabled: true, credentials: {} }));
    const presets = [
      customPreset('b1', 'Up', torrentAddon.manifestUrl),
      { type: 'easynews', instanceId: 'e1', enabled: true, options: {} },
    ];
    const { base } = await makeUser(testHost, buildConfig(presets, { services }));
    expect((await fetchStreams(base, 'movie/tt1')).map(({ name }) => name)).toEqual([
      '[P.IO+] Up 1080p',
      '[PKP+] Up 1080p',
      '[TB+] Up 1080p',
      '[EN+] Easynews search 1080p',
    ]);
  });
});
