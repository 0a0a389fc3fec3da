import * as m from '#messages/addons-problems';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { findUnsupportedFeatures } from '../../../services/addons/domain/unsupported-features.ts';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { hashes, openRealDebrid, openTorBox, type FakeStore } from './fake-stores.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

const createTorrent = (name: string, infoHash: string): object => ({
  name: 'Up',
  title: `${name}.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n👤 9 💾 5 GB`,
  infoHash,
  fileIdx: 1,
});
const service = (id: string, apiKey: string): object => ({ id, enabled: true, credentials: { apiKey } });
const torBoxAccount = service('torbox', 'TBKEY');
const realDebridAccount = service('realdebrid', 'RDKEY');
const broken = [500, { success: false, data: null, detail: 'x', error: 'DATABASE_ERROR' }] as const;

let host: TestHost;
let upstream: FakeAddon;
let realDebrid: FakeStore;
let torBox: FakeStore;

beforeEach(async () => {
  realDebrid = await openRealDebrid();
  torBox = await openTorBox();
  host = await openAddonsHost({ PROVIDER_A_BASE_URL: realDebrid.url, PROVIDER_H_BASE_URL: torBox.url });
  upstream = await openFakeAddon({
    streams: [
      createTorrent('Uncached', hashes.uncached),
      createTorrent('Cached', hashes.cached),
      createTorrent('Lib', hashes.library),
    ],
  });
});
afterEach(async () => {
  await host[Symbol.asyncDispose]();
  for (const entry of [upstream, realDebrid, torBox]) await entry[Symbol.asyncDispose]();
});

/** Returns the addresses of the streams whose names and descriptions contain the given texts. */
async function list(
  services: readonly object[],
  overrides: object = {},
): Promise<(name: string, file: string) => string> {
  const config = buildConfig([customPreset('a1', 'Up', upstream.manifestUrl)], {
    services,
    failover: { enabled: true },
    ...overrides,
  });
  const { base } = await makeUser(host, config);
  const streams = await fetchStreams(base);
  return (name, file) => {
    const match = streams.find((stream) => stream.name.startsWith(name) && stream.description.includes(file));
    if (match === undefined) throw new Error(`${name} ${file} is not in ${JSON.stringify(streams)}`);
    return match.url;
  };
}

async function play(address: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(address, { redirect: 'manual', ...init });
  return (response.headers.get('location') ?? String(response.status)).replace(host.url('addons'), '');
}
const times = (store: FakeStore, path: string): number =>
  store.requests.filter((request) => request.path.startsWith(path)).length;

describe('failover', () => {
  it('plays the same torrent from the next service, even if it was removed as a duplicate', async () => {
    const url = await list([torBoxAccount, realDebridAccount], { deduplicator: { enabled: true } });
    expect(() => url('[RD', 'Cached')).toThrow('is not in');
    torBox.fail('/torrents/requestdl', broken);
    expect(await play(url('[TB+]', 'Cached'))).toBe('https://direct.example/rd/T1-2');
    const requestCount = times(torBox, '/torrents/requestdl');
    // Players request the same address again after every seek.
    expect(await play(url('[TB+]', 'Cached'))).toBe('https://direct.example/rd/T1-2');
    expect(await play(url('[TB+]', 'Cached'), { method: 'HEAD' })).toBe('https://direct.example/rd/T1-2');
    expect([times(torBox, '/torrents/requestdl'), times(realDebrid, '/torrents/addMagnet')]).toEqual([requestCount, 1]);
  });

  it('plays another available stream and does not leave downloads of alternatives', async () => {
    const url = await list([realDebridAccount, torBoxAccount]);
    realDebrid.fail('/torrents/addMagnet', [503, { error: 'service_unavailable', error_code: 25 }]);
    expect(await play(url('[RD download]', 'Uncached'))).toBe('https://direct.example/tb/12-1');
    const removed = torBox.requests.filter(({ path }) => path === '/torrents/controltorrent');
    expect(removed.map(({ body }) => JSON.parse(body))).toEqual([{ torrent_id: 11, operation: 'delete' }]);
    expect(times(realDebrid, '/torrents/addMagnet')).toBe(1);
  });

  it('explains the failure when no alternative plays within the maximum number of attempts', async () => {
    const url = await list([torBoxAccount, realDebridAccount], { failover: { enabled: true, maxAttempts: 1 } });
    torBox.fail('/torrents/requestdl', broken);
    realDebrid.fail('/unrestrict/link', [451, { error: 'infringing_file', error_code: 35 }]);
    expect(await play(url('[TB+]', 'Cached'))).toBe('/static/internal-error.mp4');
    expect(times(realDebrid, '/unrestrict/link')).toBe(1);
  });

  it('does not replace a selected download', async () => {
    const url = await list([torBoxAccount, realDebridAccount]);
    expect(await play(url('[TB download]', 'Uncached'))).toBe('/static/downloading.mp4');
    expect(times(realDebrid, '/torrents/addMagnet')).toBe(0);
  });

  it.each([
    ['failover is not configured', { failover: null }, (url: string) => url],
    ['failover is disabled', { failover: { enabled: false } }, (url: string) => url],
    ['failover is limited to Usenet', { failover: { enabled: true, contentTypes: ['usenet'] } }, (url: string) => url],
    ['the player disables it', {}, (url: string) => url.replace(/\/[0-9a-f]{32}\//, '/-/')],
    ['the list is no longer stored', {}, (url: string) => url.replace(/\/[0-9a-f]{32}\//, `/${'0'.repeat(32)}/`)],
  ])('does not fall back where %s', async (_why, overrides, change) => {
    const url = await list([torBoxAccount, realDebridAccount], overrides);
    torBox.fail('/torrents/requestdl', broken);
    expect(await play(change(url('[TB+]', 'Cached')))).toBe('/static/internal-error.mp4');
    expect(times(realDebrid, '/torrents/addMagnet')).toBe(0);
  });
});

it('reports options without effect', () => {
  const notes = (failover: object): readonly string[] =>
    findUnsupportedFeatures(readConfig(buildConfig([], { failover, sortCriteria: { global: [] } })));
  expect(notes({ enabled: true, maxAttempts: 4 })).toEqual([]);
  expect(notes({ enabled: true, contentTypes: ['usenet'], includeExternalFailover: true })).toEqual([
    m.featureExternalFailover(),
    m.failoverWithoutServices(),
  ]);
});
