import stremio from 'stremio-addon-client';
import linter from 'stremio-addon-linter';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
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

const completeConfig = {
  ...{ id: 'fake.all', name: 'All', version: '1.0.0', types: ['movie', 'series'], idPrefixes: ['tt'] },
  resources: ['stream', 'meta', 'subtitles', 'catalog', { name: 'addon_catalog', types: ['movie'] }],
  catalogs: [{ type: 'movie', id: 'top', extra: [{ name: 'search' }, { name: 'skip' }, { name: 'genre' }] }],
  addonCatalogs: [{ type: 'movie', id: 'more', name: 'More' }],
};
const poster = 'http://127.0.0.1:1/p.jpg';

let host: TestHost;
let url: string;
let upstream: FakeAddon;
beforeAll(async () => {
  host = await openAddonsHost();
  url = host.url('addons');
  upstream = await openFakeAddon({
    manifest: completeConfig,
    streams: alphaStreams,
    answer: (request, response) => {
      const [, resource, type, id, extra] = (request.url ?? '').split('/');
      if (id === undefined || resource === 'stream') return false;
      const meta = { id: 'tt1', type, name: `${decodeURIComponent(id)} ${decodeURIComponent(extra ?? '')}`, poster };
      if (resource === 'catalog') sendJson(response, { metas: [meta] });
      if (resource === 'meta') sendJson(response, { meta });
      if (resource === 'subtitles')
        sendJson(response, { subtitles: [{ id: extra, lang: 'eng', url: 'http://127.0.0.1:1/s.srt' }] });
      if (resource === 'addon_catalog')
        sendJson(response, {
          addons: [{ transportName: 'http', transportUrl: upstream.manifestUrl, manifest: completeConfig }],
        });
      return response.headersSent;
    },
  });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const config = (overrides: object = {}): Record<string, unknown> =>
  buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], overrides);
const configure = async (body: unknown, headers: Record<string, string> = {}, baseUrl = url): Promise<Response> =>
  await fetch(`${baseUrl}/configure`, { method: 'POST', headers, body: JSON.stringify(body) });

describe('an installed addon with stremio-addon-client', () => {
  it.each(['/stremio/{uuid}/{password}', '/{userId}', '/{config}'])('has the resource: %s', async (form) => {
    let manifestUrl = (await makeUser(host, config())).manifestUrl;
    if (form === '/{userId}') manifestUrl = (await readJson(await configure(config()))).data.manifestUrl;
    if (form === '/{config}')
      manifestUrl = `${url}/${Buffer.from(JSON.stringify(config())).toString('base64url')}/manifest.json`;
    const { addon } = await stremio.detectFromURL(manifestUrl);
    const { errors, warnings } = linter.lintManifest(addon.manifest);
    // The client supports it, but the linter does not.
    expect([errors, warnings.map(({ message }) => message)]).toEqual([
      [],
      ['manifest.resources: unknown value addon_catalog'],
    ]);
    expect(addon.manifest.behaviorHints).toEqual({ configurable: true, configurationRequired: false });
    expect(['stream', 'meta', 'subtitles'].map((name) => addon.isSupported(name, 'movie', 'tt1'))).toEqual([
      true,
      true,
      true,
    ]);
    const catalog = addon.manifest.catalogs[0].id;
    const { streams } = await addon.get('stream', 'series', 'tt1:2:3');
    expect(streams).toHaveLength(alphaStreams.length);
    expect((await addon.get('catalog', 'movie', catalog)).metas[0].name).toBe('top.json ');
    const typed = { search: 'a & b=c/d.json', skip: '100', genre: 'Sci-Fi & Fantasy' };
    const { metas } = await addon.get('catalog', 'movie', catalog, typed);
    expect(metas[0].name).toContain('search=a & b=c/d.json&skip=100&genre=Sci-Fi & Fantasy');
    expect((await addon.get('meta', 'movie', 'tt 1/2')).meta.name).toBe('tt 1/2.json ');
    const { subtitles } = await addon.get('subtitles', 'movie', 'tt1', {
      videoHash: 'ff',
      videoSize: '5',
      filename: 'A %41.mkv',
    });
    expect(decodeURIComponent(subtitles[0].id)).toBe('videoHash=ff&videoSize=5&filename=A %41.mkv.json');
    const { addons } = await addon.get('addon_catalog', 'movie', addon.manifest.addonCatalogs[0].id);
    expect(addons[0].transportUrl).toBe(upstream.manifestUrl);
    expect(upstream.requests).toContain('/stream/series/tt1%3A2%3A3.json');
  });

  it('returns errors as items of each resource', async () => {
    await using broken = await openFakeAddon({
      manifest: completeConfig,
      answer: (request, response) => {
        if (request.url?.includes('manifest') === false) sendJson(response, {}, 500);
        return response.headersSent;
      },
    });
    const { manifestUrl, base } = await makeUser(host, buildConfig([customPreset('b1', 'Broken', broken.manifestUrl)]));
    const { addon } = await stremio.detectFromURL(manifestUrl);
    const catalog = addon.manifest.catalogs[0].id;
    const expectedMessage = 'Broken reported an internal error (500).';
    const { streams } = await addon.get('stream', 'movie', 'tt1');
    expect(streams).toEqual([
      expect.objectContaining({ name: '[❌] Broken', description: expectedMessage, externalUrl: `${base}/configure` }),
    ]);
    const { metas } = await addon.get('catalog', 'movie', catalog);
    expect(metas).toEqual([
      expect.objectContaining({ name: '[❌] Broken', description: expectedMessage, type: 'movie' }),
    ]);
    expect((await addon.get('meta', 'movie', metas[0].id)).meta).toEqual(metas[0]);
    expect((await addon.get('meta', 'movie', 'tt1')).meta).toMatchObject({ description: expectedMessage });
    expect((await addon.get('subtitles', 'movie', 'tt1')).subtitles[0].lang).toBe(`[❌] Broken - ${expectedMessage}`);
    const hidden = await makeUser(
      host,
      buildConfig([customPreset('b1', 'Broken', broken.manifestUrl)], { hideErrors: true }),
    );
    expect(await fetchStreams(hidden.base)).toEqual([]);
  });

  it('returns an error without a configuration', async () => {
    for (const baseUrl of [url, `${url}/stremio`]) {
      const { addon } = await stremio.detectFromURL(`${baseUrl}/manifest.json`);
      expect(linter.lintManifest(addon.manifest).errors).toEqual([]);
      expect(addon.manifest.behaviorHints).toEqual({ configurable: true, configurationRequired: true });
      const { streams } = await addon.get('stream', 'movie', 'tt1');
      expect(streams[0].description).toBe('Please configure the addon first');
    }
  });
});

describe('the routes of the specification', () => {
  it('answers /health, /api/v1/health and /api/v1/status', async () => {
    expect(await getJson(`${url}/health`)).toEqual({ status: 'ok' });
    expect(await getJson(`${url}/api/v1/health`)).toMatchObject({ success: true, detail: 'OK' });
    const { success, data } = await getJson(`${url}/api/v1/status`);
    expect(success).toBe(true);
    expect(data.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(data.settings).toMatchObject({
      addonName: 'AIOStreams',
      protected: false,
      loggingSensitiveInfo: false,
      defaults: { timeout: 7000 },
      limits: { maxAddons: expect.any(Number) },
    });
    expect(Object.keys(data.settings.services)).toHaveLength(8);
    expect(data.settings.presets.map(({ ID }: any) => ID)).toContain('custom');
  });

  it('accepts Base64, base64url and a decoded + at /manifest.json?config=', async () => {
    const text = Buffer.from(JSON.stringify(config({ addonName: 'Ünï>>>???' }))).toString('base64');
    for (const form of [text, text.replaceAll('+', ' '), text.replaceAll('+', '-').replaceAll('/', '_')]) {
      const manifest = await getJson(`${url}/manifest.json?config=${encodeURIComponent(form)}`);
      expect(manifest.name).toBe('Ünï>>>???');
    }
    const refused = await fetch(`${url}/manifest.json?config=bm8`);
    expect([refused.status, (await readJson(refused)).success]).toEqual([400, false]);
  });

  it('answers /configure with the page and accepts a posted configuration', async () => {
    const page = await fetch(`${url}/configure`, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([302, `${host.url('control')}/addons`]);
    const response = await configure({ ...config(), password: 'my-own-pass' });
    const { success, data } = await readJson(response);
    expect([response.status, success]).toEqual([201, true]);
    expect(data.manifestUrl).toBe(`${url}/${String(data.userId)}/manifest.json`);
    expect(data.stremioUrl).toBe(data.manifestUrl.replace('http:', 'stremio:'));
    const basic = Buffer.from(`${String(data.uuid)}:my-own-pass`).toString('base64');
    expect((await fetch(`${url}/api/v1/user`, { headers: { authorization: `Basic ${basic}` } })).status).toBe(200);
    for (const path of [`/${String(data.userId)}/configure`, '/', '/stremio/configure'])
      expect((await fetch(url + path, { redirect: 'manual' })).status).toBe(302);
    for (const [body, status] of [
      ['{', 400],
      ['[]', 400],
      ['{"presets":5}', 400],
    ] as const) {
      const refused = await fetch(`${url}/configure`, { method: 'POST', body });
      expect([refused.status, (await readJson(refused)).success]).toEqual([status, false]);
    }
  });

  it('exports by Basic and by userId, with keys for the password only', async () => {
    const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: 'MY-KEY' } }];
    const { data } = await readJson(await configure({ ...config({ services }), password }));
    const exported = await fetch(`${url}/export?userId=${String(data.userId)}`);
    expect(exported.headers.get('content-disposition')).toMatch(/^attachment; filename=".*config\.json"$/);
    const text = await exported.text();
    expect(JSON.parse(text).presets).toMatchObject(config()['presets'] as object[]);
    expect(text).not.toContain('MY-KEY');
    expect((await fetch(`${url}/export?userId=${String(data.userId)}&includeCredentials=true`)).status).toBe(401);
    const basic = Buffer.from(`${String(data.uuid)}:${password}`).toString('base64');
    const completeExport = await fetch(`${url}/export?includeCredentials=true`, {
      headers: { authorization: `Basic ${basic}` },
    });
    // The exported configuration can be imported again.
    expect((await configure(await readJson(completeExport))).status).toBe(201);
  });

  it('restricts /proxy/{addon}/{endpoint} to the addon', async () => {
    const { data } = await readJson(await configure(config()));
    const proxyUrl = `${url}/proxy/a1`;
    const user = `userId=${String(data.userId)}`;
    expect((await getJson(`${proxyUrl}/meta/movie/tt7.json?${user}`)).meta.name).toBe('tt7.json ');
    expect((await getJson(`${url}/${String(data.userId)}/proxy/a1/manifest.json`)).name).toBe('All');
    const outside = await fetch(`${proxyUrl}/..%2f..%2fetc?${user}`);
    expect(outside.status).not.toBe(500);
    for (const [path, status] of [
      [`/proxy/zz/manifest.json?${user}`, 404],
      ['/proxy/a1/manifest.json', 401],
      ['/proxy/a1/manifest.json?userId=nobody', 401],
      [`/proxy/a1?${user}`, 404],
    ] as const)
      expect([path, (await fetch(url + path)).status]).toEqual([path, status]);
    expect((await fetch(`${proxyUrl}/manifest.json?${user}`, { method: 'POST' })).status).toBe(405);
  });

  it('answers other paths with an envelope and CORS headers', async () => {
    const cases: readonly (readonly [string, string, number, string | undefined])[] = [
      ['GET', '/api/v1/nothing', 404, undefined],
      ['GET', '/nothing', 404, undefined],
      ['PATCH', '/api/v1/user', 405, 'METHOD_NOT_ALLOWED'],
      ['POST', '/manifest.json', 405, 'METHOD_NOT_ALLOWED'],
      ['GET', '/api/v1/format', 405, 'METHOD_NOT_ALLOWED'],
      ['GET', '/api/v1/search?type=movie&id=tt1', 401, 'UNAUTHORIZED'],
      ['GET', '/api/v1/catalogs', 401, 'UNAUTHORIZED'],
      ['GET', '/export', 401, 'UNAUTHORIZED'],
      ['POST', '/api/v1/user', 400, 'BAD_REQUEST'],
      ['POST', '/api/v1/format', 400, 'BAD_REQUEST'],
      ['GET', '/static/nothing.mp4', 404, undefined],
      ['GET', '/static/..%2fplayer.ts', 404, undefined],
    ];
    for (const [method, path, status, code] of cases) {
      const response = await fetch(url + path, { method });
      const body = await readJson(response);
      expect([method, path, response.status, body.success]).toEqual([method, path, status, false]);
      if (code !== undefined) expect([path, body.error.code]).toEqual([path, code]);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    }
    const ids = ['__proto__', 'constructor', 'api', 'static', 'health', 'export'];
    for (const id of ids) expect([id, (await fetch(`${url}/${id}/stream/movie/tt1.json`)).status]).toEqual([id, 404]);
  });

  it('formats a preview', async () => {
    const format = async (stream: unknown, formatter: object): Promise<any> =>
      await readJson(
        await fetch(`${url}/api/v1/format`, {
          method: 'POST',
          body: JSON.stringify({ stream, context: { userData: { formatter } } }),
        }),
      );
    const custom = {
      id: 'custom',
      definitions: { custom: { name: '{stream.resolution}', description: '{stream.title}' } },
    };
    expect((await format({ filename: 'A.Film.2019.1080p.mkv' }, custom)).data).toEqual({
      name: '1080p',
      description: 'A Film',
    });
    expect((await format(5, custom)).error.code).toBe('FORMAT_INVALID_STREAM');
    expect((await format({}, { id: 'custom', definitions: { custom: { name: 5 } } })).error.code).toBe(
      'FORMAT_INVALID_FORMATTER',
    );
  });
});
