import * as m from '#messages/addons-problems';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Activity } from '../../../services/addons/activity.ts';
import { buildAddon } from '../../../services/addons/upstream/addon.ts';
import { Aggregator } from '../../../services/addons/aggregate/aggregator.ts';
import { DigitalReleases } from '../../../services/addons/aggregate/digital-releases.ts';
import { SeaDex } from '../../../services/addons/aggregate/seadex.ts';
import { TitleLookup } from '../../../services/addons/aggregate/titles.ts';
import { parseManifest } from '../../../services/addons/domain/manifest.ts';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { readStreams } from '../../../services/addons/domain/read-stream.ts';
import { Sandbox } from '../../../services/addons/sandbox/sandbox.ts';
import { parseRelease } from '../../../services/addons/domain/release.ts';
import { createCachedReleaseParser } from '../../../services/addons/domain/release-cache.ts';
import { MetricLabels } from '../../../services/addons/metrics.ts';
import { UpstreamClient } from '../../../services/addons/upstream/upstream.ts';
import type { ResourceRequest } from '../../../services/addons/domain/resource-path.ts';
import { alphaStreams, openFakeAddon, sendJson, streamManifest } from './fake-addon.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

const clock: any = { now: () => 1000, after: () => ({ [Symbol.dispose]: () => undefined }) };
const context: any = { clock, log: { debug: () => undefined }, random: { text: () => 'x' } };
const counter = { inc: () => undefined, observe: () => undefined };
const createTestAddon = (manifestUrl: string) =>
  buildAddon(
    readConfig(buildConfig([customPreset('u', 'Up', manifestUrl)])).presets[0]!,
    { name: 'Up', manifestUrl, suffix: '', trust: 'owner' },
    0,
    1000,
  );
const request = (resource: string, index: number): ResourceRequest => ({
  resource,
  type: 'movie',
  id: `tt${String(index)}`,
  extra: {},
});
const createUpstream = (body: string): UpstreamClient =>
  new UpstreamClient({
    ...{ context, readRelease: parseRelease, cacheSize: 1000, streamCacheSeconds: 300 },
    ...{ userAgent: 'X', logAddresses: false },
    metrics: { cache: counter, failures: counter, latency: counter } as any,
    guardedFetch: { fetch: () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from(body) }) } as any,
  });

describe('caches of addon responses', () => {
  const pad = 'x'.repeat(1024 * 1024);

  it.each<[string, number, object, (upstream: UpstreamClient, index: number) => unknown]>([
    [
      'streams',
      15,
      { streams: [{ url: 'http://h.example/A', pad }] },
      (upstream, index) =>
        upstream.getStreams(createTestAddon('http://a.example/manifest.json'), request('stream', index)),
    ],
    [
      'catalogs',
      15,
      { metas: [], pad },
      (upstream, index) =>
        upstream.getResource(createTestAddon('http://a.example/manifest.json'), request('catalog', index), 1000),
    ],
    [
      'manifests',
      7,
      { ...streamManifest, pad },
      (upstream, index) => upstream.getManifest(createTestAddon(`http://a.example/${String(index)}/manifest.json`)),
    ],
  ])('stores at most the maximum number of bytes of %s', async (_case, maxBytes, body, sendRequest) => {
    const upstream = createUpstream(JSON.stringify(body));
    for (let index = 0; index < 18; index += 1) await sendRequest(upstream, index);
    expect(upstream.cached).toBe(maxBytes);
  });

  it('does not keep the body of an invalid response', async () => {
    const upstream = createUpstream(`<html>${'x'.repeat(1000)}`);
    const addon = createTestAddon('http://a.example/manifest.json');
    const first: any = await upstream.getManifest(addon);
    const second: any = await upstream.getManifest(addon);
    for (const { failure } of [first, second])
      expect([failure.kind, failure.message, failure.cause]).toEqual([
        'malformed',
        m.addonReturnedPage({ name: 'Up' }),
        undefined,
      ]);
  });

  it('keeps release names without their surrounding text, and no names above the maximum length', () => {
    const read = createCachedReleaseParser(1000);
    expect(read('A.2019.1080p.mkv')).toBe(read('A.2019.1080p.mkv'));
    expect(read('A.'.repeat(201))).not.toBe(read('A.'.repeat(201)));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 300; index += 1) {
      const long = Buffer.alloc(200_000, `Some.Film.${String(index)}.2019.1080p.WEB-DL.x264-GRP.mkv `).toString(
        'latin1',
      );
      read(long.slice(0, 60));
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30_000_000);
    expect(read('B.2019.720p.mkv')).toBe(read('B.2019.720p.mkv'));
  });

  it('limits metric labels to two hundred hosts', () => {
    const labels = new MetricLabels();
    const named = Array.from({ length: 300 }, (_, index) => labels.getLabel(`h${String(index)}.example`));
    expect([named[199], named[200], new Set(named).size]).toEqual(['h199.example', 'other', 201]);
    expect(labels.getLabel('h5.example')).toBe('h5.example');
  });
});

describe('StreamListCache', () => {
  const hash = 'a'.repeat(40);
  const bareStreams = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, index) => ({ infoHash: hash, fileIdx: index, title: 'A.2019.1080p.mkv' }));
  const services = ['torbox', 'realdebrid'].map((id) => ({ id, enabled: true, credentials: {} }));

  function open(count: number, { settings = {}, more = {} }: { settings?: object; more?: object } = {}) {
    const addon = createTestAddon('http://a.example/manifest.json');
    const parsedStreams = readStreams(bareStreams(count), addon.stream, createCachedReleaseParser(10));
    const config = readConfig(buildConfig([customPreset('u', 'Up', addon.manifestUrl)], more));
    const finished: unknown[] = [];
    const aggregator = new Aggregator(
      context,
      {
        ...{ streamCacheSeconds: 300, deadline: 1000, torboxApiKey: 'HOUSE', realdebridApiKey: 'H' },
        ...{ regexFilterAccess: 'all', ...settings },
      } as any,
      {
        upstream: {
          getManifest: () => Promise.resolve({ value: parseManifest(streamManifest) }),
          getStreams: () => parsedStreams,
        },
        addons: {
          policy: { isOwnAddress: () => false },
          trust: 'other',
          defaultTimeoutMs: 1000,
          maxAddons: 5,
          disableSelfScraping: false,
          createBuiltIn: () => undefined,
        },
        pool: { isSupported: () => true, getAccount: () => undefined, fingerprint: () => 'f' },
        playback: {
          links: { sealCredentials: (_print: string, id: string) => id, buildPath: (auth: string) => `/${auth}` },
          history: { wasPlayed: () => true },
        },
        sandbox: new Sandbox(context),
        activity: new Activity(clock),
        metadata: {
          titles: new TitleLookup(context, ''),
          digital: new DigitalReleases(context, ''),
          seadex: new SeaDex(context, { list: '', mapping: '' }),
        },
      } as any,
    );
    const requestStreams = async (contextFields: object = {}): Promise<any[]> => {
      const { text } = await aggregator.getResource(
        {
          ...{ config, uuid: 'u', addressMarkers: [], revision: '1', baseUrl: 'http://own.example', configureUrl: '' },
          ...{ withData: false, trusted: true, ...contextFields },
          proxy: (result: any) => {
            finished.push(result);
            return result;
          },
        },
        request('stream', 1),
      );
      return JSON.parse(text).streams;
    };
    return { ask: requestStreams, finished };
  }

  it('builds a list once, unless caching is disabled', async () => {
    const cachedList = open(1);
    await cachedList.ask();
    await cachedList.ask();
    expect(cachedList.finished).toHaveLength(1);
    const never = open(1, { settings: { streamCacheSeconds: 0 } });
    await never.ask();
    await never.ask();
    expect(never.finished).toHaveLength(2);
  });

  it('limits the weight of the cached responses', async () => {
    const big = open(17_000, { more: { resultLimits: { global: 1 } } });
    await big.ask();
    await big.ask();
    expect(big.finished).toHaveLength(2);
  });

  it('does not share lists of the owner with requests of another site', async () => {
    const { ask: requestStreams } = open(1, { more: { services } });
    expect((await requestStreams()).map(({ url }) => url)).toEqual([
      'http://own.example/torbox',
      'http://own.example/realdebrid',
    ]);
    expect((await requestStreams({ foreign: true })).map(({ url }) => url)).toEqual([undefined]);
  });

  it('distributes lists among services, even after a condition was evaluated', async () => {
    const dynamicAddonFetching = { enabled: true, condition: 'count(totalStreams) > 99' };
    const { ask: requestStreams } = open(1, {
      settings: { streamCacheSeconds: 0 },
      more: { services, spreadServices: true, dynamicAddonFetching },
    });
    const chosen = [];
    for (let round = 0; round < 4; round += 1) chosen.push((await requestStreams())[0].url.split('/').at(-1));
    expect(new Set(chosen.slice(0, 2)).size).toBe(2);
    expect(chosen.slice(2)).toEqual(chosen.slice(0, 2));
  });
});

describe('metadata services', () => {
  it('are requested in parallel to the addons until the deadline', async () => {
    const metadataRequests = ['/meta/', '/3/find/'].map((path) => ({ path, ...Promise.withResolvers<void>() }));
    await using world = await openFakeAddon({
      answer: async (incoming, response) => {
        const path = incoming.url ?? '';
        for (const metadataRequest of metadataRequests)
          if (path.startsWith(metadataRequest.path)) metadataRequest.resolve();
        // The addon waits until the metadata requests have started, which never end.
        if (path.includes('/stream/')) {
          await Promise.all(metadataRequests.map(({ promise }) => promise));
          sendJson(response, { streams: alphaStreams.slice(0, 1) });
        }
        return !path.endsWith('manifest.json');
      },
    });
    await using host = await openAddonsHost({
      ...{ SEADEX_URL: world.url, METADATA_URL: world.url, TMDB_URL: world.url },
    });
    const config = buildConfig([customPreset('u', 'Up', world.manifestUrl)], {
      ...{ deadline: 3000, titleMatching: { enabled: true }, tmdbApiKey: 'K' },
      digitalReleaseFilter: { enabled: true },
    });
    const { base } = await makeUser(host, config);
    const startedAt = performance.now();
    expect(await fetchStreams(base, 'movie/tt5')).toHaveLength(1);
    // Sequential requests would take three times as long.
    expect(performance.now() - startedAt).toBeLessThan(8500);
  });

  it('are not requested for a minute after a failure', async () => {
    let now = 1000;
    const requestedUrls: string[] = [];
    const moving: any = {
      ...{ ...context, clock: { ...clock, now: () => now } },
      fetch: (url: string) => {
        requestedUrls.push(url);
        return Promise.reject(new Error('down'));
      },
    };
    const seadex = new SeaDex(moving, { list: 'http://l.example', mapping: '' });
    const titles = new TitleLookup(moving, 'http://m.example');
    const digital = new DigitalReleases(moving, 'http://t.example');
    const config = readConfig(buildConfig([], { enableSeadex: true, tmdbApiKey: 'ONE' }));
    const requestStreams = async (): Promise<number> => {
      requestedUrls.length = 0;
      expect((await seadex.findRecommendations('anilist:1', config)).sentence).toBe(m.seaDexUnreachable());
      await titles.findMetadata({ type: 'movie', id: 'tt1' });
      await digital.findRelease('tt1', config);
      return requestedUrls.length;
    };
    expect([await requestStreams(), await requestStreams()]).toEqual([3, 0]);
    await digital.findRelease('tt1', { ...config, tmdbApiKey: 'TWO' });
    expect(requestedUrls).toHaveLength(1);
    now += 60_000;
    expect(await requestStreams()).toBe(3);
  });
});
