import * as m from '#messages/addons-problems';
import stremio from 'stremio-addon-client';
import linter from 'stremio-addon-linter';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, streamManifest, type FakeAddon } from './fake-addon.ts';
import { hashes, openRealDebrid, openTorBox, type FakeStore } from './fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, readJson } from './rig.ts';

const createTorrent = (name: string, infoHash: string): object => ({
  name: 'Up',
  title: `${name}.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n👤 9 💾 5 GB`,
  infoHash,
  fileIdx: 1,
});

let host: TestHost;
let url: string;
let upstream: FakeAddon;
let realDebrid: FakeStore;
let torBox: FakeStore;

beforeAll(async () => {
  realDebrid = await openRealDebrid();
  torBox = await openTorBox();
  host = await openAddonsHost({ PROVIDER_A_BASE_URL: realDebrid.url, PROVIDER_H_BASE_URL: torBox.url });
  url = host.url('addons');
  upstream = await openFakeAddon({
    streams: [
      createTorrent('Uncached', hashes.uncached),
      createTorrent('Cached', hashes.cached),
      createTorrent('Lib', hashes.library),
    ],
  });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  for (const entry of [upstream, realDebrid, torBox]) await entry[Symbol.asyncDispose]();
});

const service = (id: string, apiKey: string): object => ({ id, enabled: true, credentials: { apiKey } });
const play = async (address: string, init: RequestInit = {}): Promise<Response> =>
  await fetch(address, { redirect: 'manual', ...init });

describe('playback from manifest to file', () => {
  it('checks availability once for all streams and adds a torrent only when it is played', async () => {
    const config = buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], {
      services: [service('torbox', 'TBKEY')],
      serviceWrap: { enabled: true },
    });
    const { manifestUrl } = await makeUser(host, config);
    const { addon } = await stremio.detectFromURL(manifestUrl);
    expect(linter.lintManifest(addon.manifest)).toMatchObject({ valid: true, errors: [] });
    const { streams } = await addon.get('stream', 'movie', 'tt0111161');
    expect(streams.map(({ name, description }: any) => [name, description])).toEqual([
      ['[TB download] Up 1080p', 'Uncached.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n💾5 GiB 👤9 '],
      ['[TB+] Up 1080p', 'Cached.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n💾4.66 GiB 👤9 '],
      ['[TB+] Up 1080p', 'Lib.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n💾5 GiB 👤9 '],
    ]);
    expect(torBox.requests.filter(({ path }) => path === '/torrents/checkcached')).toHaveLength(1);
    expect(torBox.requests.some(({ path }) => path === '/torrents/createtorrent')).toBe(false);
    expect(JSON.stringify(streams)).not.toContain('TBKEY');
    const [uncached, cached, library] = streams.map((stream: any) => stream.url);

    const head = await play(cached, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(torBox.requests.some(({ path }) => path === '/torrents/createtorrent')).toBe(false);

    const played = await play(cached);
    expect([played.status, played.headers.get('location'), played.headers.get('cache-control')]).toEqual([
      307,
      'https://direct.example/tb/11-1',
      'no-store',
    ]);
    expect((await play(cached, { method: 'HEAD' })).headers.get('location')).toBe('https://direct.example/tb/11-1');
    expect((await play(library)).headers.get('location')).toBe('https://direct.example/tb/5-1');
    expect((await play(uncached)).headers.get('location')).toBe(`${url}/static/downloading.mp4`);
    expect(torBox.requests.filter(({ path }) => path === '/torrents/createtorrent')).toHaveLength(2);
  });

  it('uses library and former plays for services that do not report availability', async () => {
    const config = buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], {
      services: [service('realdebrid', 'RDKEY')],
    });
    const { base } = await makeUser(host, config);
    const names = async (): Promise<string[]> =>
      (await getJson(`${base}/stream/movie/tt0111162.json`)).streams.map(({ name }: any) => name);
    expect(await names()).toEqual(['[RD download] Up 1080p', '[RD download] Up 1080p', '[RD+] Up 1080p']);
    expect(realDebrid.requests.some(({ path }) => path === '/torrents/addMagnet')).toBe(false);
    const { streams } = await getJson(`${base}/stream/movie/tt0111162.json`);
    const played = await play(streams[1].url);
    expect([played.status, played.headers.get('location')]).toEqual([307, 'https://direct.example/rd/T1-2']);
    expect((await play(streams[2].url)).headers.get('location')).toBe('https://direct.example/rd/LIB-2');
    expect((await play(streams[0].url)).headers.get('location')).toBe(`${url}/static/downloading.mp4`);
    const otherList = await getJson(`${base}/stream/movie/tt0111163.json`);
    expect(otherList.streams.map(({ name }: any) => name)).toEqual([
      '[RD download] Up 1080p',
      '[RD+] Up 1080p',
      '[RD+] Up 1080p',
    ]);
  });

  it('lists an error for a refused key and plays the clip with ranges', async () => {
    const config = buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], {
      services: [service('torbox', 'WRONG')],
    });
    const { base } = await makeUser(host, config);
    const { streams } = await getJson(`${base}/stream/movie/tt0111161.json`);
    expect(streams.at(-1)).toMatchObject({
      name: '[❌] TorBox',
      description: m.keyRejected({ name: 'TorBox' }),
    });
    const requestCount = torBox.requests.length;
    const refused = await play(streams[1].url);
    expect(refused.headers.get('location')).toBe(`${url}/static/unauthorized.mp4`);
    expect(torBox.requests.length).toBe(requestCount);
    const clip = await fetch(refused.headers.get('location') ?? '', { headers: { range: 'bytes=4-7' } });
    expect([clip.status, clip.headers.get('content-range'), await clip.text()]).toEqual([
      206,
      expect.stringMatching(/^bytes 4-7\/\d+$/),
      'ftyp',
    ]);
    const [health] = (await getJson(`${url}/api/v1/providers/health`)).data.filter(({ id }: any) => id === 'torbox');
    expect(health).toMatchObject({
      lastError: m.keyRejected({ name: 'TorBox' }),
      responseMs: expect.any(Number),
    });
  });

  it('does not play an address of another server', async () => {
    const response = await play(`${url}/api/v1/debrid/playback/AAAA/-/e30/tt1/x.mkv`);
    expect([response.status, (await readJson(response)).error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  it('uses credentials of the environment when a configuration has none', async () => {
    await using testHost = await openAddonsHost({ PROVIDER_H_BASE_URL: torBox.url, PROVIDER_H_API_KEY: 'TBKEY' });
    const config = buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], {
      services: [{ id: 'torbox', enabled: true }],
    });
    const { base } = await makeUser(testHost, config);
    const { streams } = await getJson(`${base}/stream/movie/tt0111161.json`);
    expect(streams[1].name).toBe('[TB+] Up 1080p');
  });
});

describe('install addresses', () => {
  it.each([
    'path for stremio-addon-client',
    'user ID of the specification',
    'configuration in the path',
    'configuration in the query',
  ])('are accepted: %s', async (way) => {
    const config = buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)]);
    const encoded = Buffer.from(JSON.stringify(config)).toString('base64');
    let manifestUrl = (await makeUser(host, config)).manifestUrl;
    if (way.includes('user id')) {
      const response = await fetch(`${url}/configure`, { method: 'POST', body: JSON.stringify(config) });
      const { data } = await readJson(response);
      expect([response.status, data.stremioUrl]).toEqual([201, data.manifestUrl.replace('http:', 'stremio:')]);
      manifestUrl = data.manifestUrl;
    }
    if (way.includes('in the path'))
      manifestUrl = `${url}/${encoded.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}/manifest.json`;
    if (way.includes('query')) {
      const query = `?config=${encodeURIComponent(encoded)}`;
      const manifest = await getJson(`${url}/manifest.json${query}`);
      expect(linter.lintManifest(manifest).errors).toEqual([]);
      // Replaces the path as stremio-core does; the query is preserved.
      const { streams } = await getJson(`${url}/stream/movie/tt1%3A1%3A2.json${query}`);
      expect(streams).toHaveLength(3);
      return;
    }
    const { addon } = await stremio.detectFromURL(manifestUrl);
    expect(addon.manifest.resources).toEqual([{ name: 'stream', types: streamManifest.types, idPrefixes: ['tt'] }]);
    const { streams } = await addon.get('stream', 'series', 'tt1:1:2');
    expect(streams).toHaveLength(3);
    expect(upstream.requests).toContain('/stream/series/tt1%3A1%3A2.json');
  });

  it('returns the unconfigured manifest without a configuration and an error for an invalid one', async () => {
    expect((await getJson(`${url}/manifest.json`)).behaviorHints.configurationRequired).toBe(true);
    expect((await fetch(`${url}/manifest.json?config=%00`)).status).toBe(400);
    const { streams } = await getJson(`${url}/stream/movie/tt1.json?config=!!`);
    expect(streams[0].description).toBe(m.addressConfigurationInvalid());
  });
});
