import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { hashes, openRealDebrid, type FakeStore } from './fake-stores.ts';
import { getJson, makeUser, openAddonsHost, readJson, fetchStreams } from './rig.ts';

const golden = (name: string): any => JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8'));

/** Returns the type of each member, and of the first entry of lists. Null matches every type. */
function toShape(value: unknown): unknown {
  if (value === null) return expect.toSatisfy(() => true);
  if (Array.isArray(value)) return expect.any(Array);
  if (typeof value !== 'object')
    return expect.any({ string: String, number: Number, boolean: Boolean }[typeof value as 'string']);
  return expect.objectContaining(
    Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toShape(inner)])),
  );
}

describe('recorded exchanges about the service', () => {
  let host: TestHost;
  let url: string;
  beforeAll(async () => {
    host = await openAddonsHost();
    url = host.url('addons');
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
  });

  it('contains every member that tools may read (02-status)', async () => {
    const { response } = golden('02-status');
    const { settings, ...head } = response.body.data;
    const actual = (await getJson(`${url}/api/v1/status`)).data;
    expect(actual).toEqual(toShape({ ...head, settings: {} }));
    const { presets, services, variants, limits, _note, ...rest } = settings;
    expect(actual.settings).toEqual(toShape(rest));
    const custom = actual.settings.presets.find(({ ID }: any) => ID === 'custom');
    const ids = (preset: any): string[] => preset.OPTIONS.map(({ id }: any) => id).toSorted();
    expect(ids(custom)).toEqual(ids(presets[0]));
    expect(Object.keys(presets[0]).filter((name) => !(name in custom))).toEqual([]);
    for (const [id, service] of Object.entries<any>(actual.settings.services)) {
      const recordedService = services[id];
      expect([service.shortName, service.knownNames]).toEqual([
        recordedService.shortName,
        expect.arrayContaining(recordedService.knownNames),
      ]);
      expect(service.credentials.map((field: any) => field.id)).toEqual(
        recordedService.credentials.map((field: any) => field.id),
      );
    }
    expect(actual.settings.limits.maxAddons).toBeGreaterThanOrEqual(limits.maxAddons);
    expect(actual.settings.variants.access).toBe(variants.access);
  });

  it('has routes of the specification that AIOStreams lacks (04 and 09)', async () => {
    expect(golden('04-root-health').response.status).toBe(404);
    expect(await getJson(`${url}/health`)).toEqual({ status: 'ok' });
    const { request, response } = golden('09-root-manifest-with-config-query');
    expect(response.status).toBe(404);
    // The recorded configuration is empty, which is listed.
    const refused = await fetch(url + request.path);
    expect([refused.status, (await readJson(refused)).error.message]).toEqual([
      400,
      expect.stringMatching(/^presets: /),
    ]);
  });

  it('returns an error stream with a link (07-legacy-config-stream)', async () => {
    const { request, response } = golden('07-legacy-config-stream');
    const [want] = response.body.streams;
    const reply = await fetch(url + request.path);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, response.headers['content-type']]);
    const { streams } = await readJson(reply);
    expect(streams).toEqual([
      {
        ...want,
        description: expect.stringMatching(/^presets: /),
        externalUrl: `${url}/stremio/configure`,
        streamData: {
          ...want.streamData,
          error: { ...want.streamData.error, description: expect.stringMatching(/^presets: /) },
        },
      },
    ]);
  });

  it('redirects to the configuration page (08-legacy-configure-redirect)', async () => {
    const { request, response } = golden('08-legacy-configure-redirect');
    const page = `${host.url('control')}/addons`;
    for (const path of [request.path, response.headers.location]) {
      const reply = await fetch(url + path, { redirect: 'manual' });
      expect([reply.status, reply.headers.get('location')]).toEqual([response.status, page]);
    }
  });
});

describe('57-service-wrap-debrid-cached-flags', () => {
  let store: FakeStore;
  let host: TestHost;
  let up: FakeAddon;
  beforeAll(async () => {
    store = await openRealDebrid();
    host = await openAddonsHost({ PROVIDER_A_BASE_URL: store.url });
    up = await openFakeAddon({
      streams: (['Uncached', 'Cached', 'Lib'] as const).map((name, index) => ({
        name: 'Up',
        title: `${name}.Movie.2019.1080p.WEB-DL.x264-GRP.mkv\n👤 9 💾 5 GB`,
        infoHash: [hashes.uncached, hashes.cached, hashes.library][index],
        fileIdx: 1,
      })),
    });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await up[Symbol.asyncDispose]();
  });

  it('marks available torrents by library and former plays, and redirects to the file', async () => {
    const { config, response } = golden('57-service-wrap-debrid-cached-flags');
    const [preset] = config.presets;
    const presets = [{ ...preset, options: { ...preset.options, manifestUrl: up.manifestUrl } }];
    const { base } = await makeUser(host, { ...config, presets });
    const before = await fetchStreams(base);
    expect(before.map(({ name }: any) => name)).toEqual([
      '[RD download] Up 1080p',
      '[RD download] Up 1080p',
      '[RD+] Up 1080p',
    ]);
    const played = await fetch(before[1].url, { redirect: 'manual' });
    expect([played.status, played.headers.get('cache-control')]).toEqual([307, 'no-store']);
    expect(played.headers.get('location')).toMatch(/^https:\/\/direct\.example\/rd\//);
    const streams = await fetchStreams(base, 'movie/tt0111162');
    // Real-Debrid no longer reports sizes, so the size of the addon is used.
    const expected = response.body.streams.map(({ url, description, behaviorHints, ...rest }: any) => ({
      ...rest,
      description: description.replace('4.66 GiB', '5 GiB'),
      behaviorHints: { ...behaviorHints, videoSize: 5_368_709_120 },
      file: url.split('/').at(-1),
      parts: url.split('/').length,
    }));
    const actual = streams.map(({ url, ...rest }: any) => ({
      ...rest,
      file: url.split('/').at(-1),
      parts: url.split('/').length,
    }));
    expect(actual).toEqual(expected);
  });
});
