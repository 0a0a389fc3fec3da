import * as m from '#messages/addons-problems';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon, sendJson, streamManifest, type FakeAddon } from './fake-addon.ts';
import { openRealDebrid, openTorBox, type FakeStore, type StoreReply } from './fake-stores.ts';
import {
  openAllDebrid,
  openDebridLink,
  openEasynews,
  openPikPak,
  openPremiumize,
  openPutIo,
} from './more-fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

const services = {
  realdebrid: { letter: 'A', name: 'Real-Debrid', open: openRealDebrid, fields: ['apiKey'] },
  alldebrid: { letter: 'B', name: 'AllDebrid', open: openAllDebrid, fields: ['apiKey'] },
  premiumize: { letter: 'C', name: 'Premiumize', open: openPremiumize, fields: ['apiKey'] },
  debridlink: { letter: 'D', name: 'Debrid-Link', open: openDebridLink, fields: ['apiKey'] },
  putio: { letter: 'E', name: 'put.io', open: openPutIo, fields: ['clientId', 'token'] },
  easynews: { letter: 'F', name: 'Easynews', open: openEasynews, fields: ['username', 'password'] },
  pikpak: { letter: 'G', name: 'PikPak', open: openPikPak, fields: ['email', 'password'] },
  torbox: { letter: 'H', name: 'TorBox', open: openTorBox, fields: ['apiKey'] },
} as const;
type Id = keyof typeof services;
const ids = Object.keys(services) as Id[];

const sameReply = (reply: StoreReply | 'hang'): Record<Id, StoreReply | 'hang'> =>
  Object.fromEntries(ids.map((id) => [id, reply])) as Record<Id, StoreReply | 'hang'>;
const put = (error_type: string, status: number): StoreReply => [
  status,
  { status: 'ERROR', error_type, error_message: error_type },
];
const kinds: readonly (readonly [what: string, replies: Record<Id, StoreReply | 'hang'>, words: RegExp])[] = [
  [
    'a wrong key',
    {
      realdebrid: [401, { error: 'bad_token', error_code: 8 }],
      alldebrid: [200, { status: 'error', error: { code: 'AUTH_BAD_APIKEY', message: 'x' } }],
      premiumize: [200, { status: 'error', message: 'Not logged in' }],
      debridlink: [200, { success: false, error: 'badToken' }],
      putio: put('invalid_grant', 401),
      easynews: [401, ''],
      pikpak: [400, { error: 'invalid_account_or_password', error_code: 4022 }],
      torbox: [403, { success: false, data: null, detail: 'x', error: 'BAD_TOKEN' }],
    },
    /doesn’t accept this/,
  ],
  [
    'an unpaid account',
    {
      realdebrid: [403, { error: 'premium_only', error_code: 20 }],
      alldebrid: [200, { status: 'error', error: { code: 'MUST_BE_PREMIUM', message: 'x' } }],
      premiumize: [200, { status: 'error', message: 'You need a premium subscription' }],
      debridlink: [200, { success: false, error: 'freeServerOverload' }],
      putio: put('PAYMENT_REQUIRED', 402),
      easynews: [402, ''],
      pikpak: [402, {}],
      torbox: [403, { success: false, data: null, detail: 'x', error: 'PLAN_RESTRICTED_FEATURE' }],
    },
    /paid plan|higher plan|free accounts/,
  ],
  ['a server error', sameReply([503, '<html>down']), /reported an internal error \(503\)/],
  ['invalid JSON', sameReply([200, '<html>']), /isn’t JSON/],
  ['no response', sameReply('hang'), /didn’t (?:report in time which files it stores|respond within)/],
  [
    'too many requests',
    sameReply([429, {}, { 'retry-after': '30' }]),
    /received too many requests\. Try again in 30 s\./,
  ],
];

describe('refusals of debrid services during a list', () => {
  const stores = new Map<Id, FakeStore>();
  let host: TestHost;
  let meta: FakeAddon;
  beforeAll(async () => {
    const environment: Record<string, string> = { PROVIDER_G_CLIENT_ID: 'C', PROVIDER_G_CLIENT_SECRET: 'S' };
    for (const id of ids) {
      const store = await services[id].open();
      stores.set(id, store);
      environment[`PROVIDER_${services[id].letter}_BASE_URL`] = store.url;
    }
    environment['PROVIDER_G_AUTH_BASE_URL'] = stores.get('pikpak')?.url ?? '';
    meta = await openFakeAddon({
      answer: (request, response) => {
        if (request.url?.startsWith('/meta/') === true) sendJson(response, { meta: { name: 'A', year: '2019' } });
        return response.headersSent;
      },
    });
    host = await openAddonsHost({ ...environment, METADATA_URL: meta.url });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await meta[Symbol.asyncDispose]();
    for (const store of stores.values()) await store[Symbol.asyncDispose]();
  });

  it.each(kinds)(
    'lists a readable error and the streams for each of the eight services: %s',
    async (what, replies, expectedMessage) => {
      const number = kinds.findIndex(([kindName]) => kindName === what);
      await using up = await openFakeAddon({
        streams: [{ infoHash: String(number).repeat(40), title: 'A.2019.1080p.mkv' }, alphaStreams[0]],
      });
      // A refused credential is not sent again, so each case uses another one.
      const credentials = (id: Id): object =>
        Object.fromEntries(services[id].fields.map((field) => [field, `SECRET${String(number)}`]));
      const config = buildConfig(
        [
          customPreset('u1', 'Up', up.manifestUrl),
          { type: 'easynews', instanceId: 'e1', enabled: true, options: { name: 'Easynews', timeout: 2000 } },
        ],
        { services: ids.map((id) => ({ id, enabled: true, credentials: credentials(id) })) },
      );
      const { base } = await makeUser(host, config);
      for (const id of ids) stores.get(id)?.fail('/', replies[id]);
      const response = await fetch(`${base}/stream/movie/tt000000${String(number)}.json`);
      for (const id of ids) stores.get(id)?.fail('/', undefined);
      expect(response.status).toBe(200);
      const { streams } = (await response.json()) as { streams: any[] };
      const descriptionsByService = new Map(
        streams
          .filter(({ name }) => name.startsWith('[❌]'))
          .map(({ name, description }) => [name.slice(4), description]),
      );
      expect([...descriptionsByService.keys()].toSorted()).toEqual(ids.map((id) => services[id].name).toSorted());
      for (const [name, sentence] of descriptionsByService)
        expect([name, sentence]).toEqual([name, expect.stringMatching(expectedMessage)]);
      // Streams of seven services with torrents, and of a source without torrents.
      expect(streams).toHaveLength(7 + 1 + descriptionsByService.size);
      expect(JSON.stringify(streams)).not.toContain('SECRET');
      const health = JSON.stringify(await getJson(`${host.url('addons')}/api/v1/providers/health`));
      expect(health).not.toContain('SECRET');
    },
  );
});

describe('oversized responses', () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await openAddonsHost();
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it('stops the decompression of a gigabyte at the maximum size', async () => {
    const block = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32), { level: 1 });
    const compressedBody = Buffer.concat(Array.from({ length: 16 }, () => block));
    await using up = await openFakeAddon({
      answer: (request, response) => {
        if (request.url?.includes('/stream/') !== true) return false;
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(compressedBody);
        return true;
      },
    });
    const { base } = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl, { timeout: 20_000 })], { deadline: 20_000 }),
    );
    const before = process.memoryUsage.rss();
    const [stream] = await fetchStreams(base);
    expect(stream.description).toBe(m.addonResponseTooLarge({ name: 'Up' }));
    expect(process.memoryUsage.rss() - before).toBeLessThan(300 * 1024 * 1024);
  });

  it('parses a part of 10,000 streams and reports it', async () => {
    const streams = Array.from({ length: 10_000 }, (_, index) => ({
      url: `http://h.example/${String(index)}`,
      behaviorHints: { filename: `A.Film.2019.1080p.WEB-DL-G${String(index % 50)}.mkv` },
    }));
    await using up = await openFakeAddon({ streams });
    const { base } = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl, { timeout: 20_000 })], { deadline: 20_000 }),
    );
    const streamItems = await fetchStreams(base);
    expect(streamItems).toHaveLength(5001);
    expect(streamItems.at(-1).description).toBe(m.addonStreamsPartial({ name: 'Up', total: 10_000, parsed: 5000 }));
  });

  it('limits the time for slow names and reports it', async () => {
    const streams = Array.from({ length: 200 }, (_, index) => ({
      url: `http://h.example/${String(index)}`,
      behaviorHints: { filename: `${String(index)}${'第'.repeat(395)}` },
    }));
    await using up = await openFakeAddon({ streams });
    const { base } = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl, { timeout: 50_000 })], { deadline: 50_000 }),
    );
    const streamItems = await fetchStreams(base);
    expect(streamItems.length).toBeLessThan(200);
    expect(streamItems.at(-1).description).toMatch(/^Up returned 200 streams, which is more than supported/);
  });

  it.each([
    ['stream', 'stream/movie/tt1', (deep: string) => `{"streams":[{"url":"http://h.example/a","x":${deep}}]}`],
    ['meta', 'meta/movie/tt1', (deep: string) => `{"meta":{"id":"tt1","type":"movie","name":"A","links":${deep}}}`],
    ['catalog', 'catalog/movie/ID', (deep: string) => `{"metas":[{"id":"tt1","name":"A","links":${deep}}]}`],
    ['subtitles', 'subtitles/movie/tt1', (deep: string) => `{"subtitles":[{"id":"1","lang":"eng","x":${deep}}]}`],
  ])('reports a deeply nested %s and lists the results of the others', async (resource, path, body) => {
    const manifest = {
      ...{ ...streamManifest, resources: ['stream', 'meta', 'catalog', 'subtitles'] },
      catalogs: [{ type: 'movie', id: 'c', name: 'C' }],
    };
    await using up = await openFakeAddon({
      manifest,
      answer: (request, response) => {
        if (request.url?.startsWith(`/${resource}/`) !== true) return false;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(body(`${'['.repeat(20_000)}${']'.repeat(20_000)}`));
        return true;
      },
    });
    await using fine = await openFakeAddon({ streams: alphaStreams });
    const { base } = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl), customPreset('f1', 'Fine', fine.manifestUrl)]),
    );
    const { catalogs } = await getJson(`${base}/manifest.json`);
    const response = await fetch(`${base}/${path.replace('ID', String(catalogs[0].id))}.json`);
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain(m.addonResponseNested({ name: 'Up' }));
    if (resource === 'stream') expect(JSON.parse(text).streams).toHaveLength(alphaStreams.length + 1);
  });

  it.each([
    ['null', null],
    ['a list', []],
    ['an object without ID', { name: 'x', resources: [] }],
    ['invalid resources', { id: 'x', name: 'x', version: 1, resources: 'stream' }],
    ['a page', '<html>'],
  ])('rejects a manifest that is %s', async (_case, manifest) => {
    let good = true;
    await using up = await openFakeAddon({
      answer: (request, response) => {
        if (request.url?.endsWith('manifest.json') !== true || good) return false;
        if (typeof manifest === 'string') response.end(manifest);
        else sendJson(response, manifest);
        return true;
      },
    });
    await using fine = await openFakeAddon({ streams: alphaStreams });
    good = false;
    const encoded = Buffer.from(
      JSON.stringify(
        buildConfig([customPreset('u1', 'Up', up.manifestUrl), customPreset('f1', 'Fine', fine.manifestUrl)]),
      ),
    ).toString('base64url');
    const base = `${host.url('addons')}/${encoded}`;
    const streams = await fetchStreams(base);
    expect(streams).toHaveLength(alphaStreams.length + 1);
    expect(streams.at(-1).description).toMatch(/^Up (?:didn’t return an addon manifest|returned a web page)/);
    expect((await getJson(`${base}/manifest.json`)).resources).toHaveLength(1);
  });

  it('ignores fields of wrong types in a manifest and a catalog', async () => {
    await using up = await openFakeAddon({
      manifest: {
        ...streamManifest,
        types: ['movie', 5, null],
        idPrefixes: [null, 'tt'],
        resources: ['stream', null, 5, { name: 7 }, { name: 'meta', types: 'movie', idPrefixes: {} }, 'catalog'],
        catalogs: [
          null,
          { id: 5 },
          { id: 'a', type: 'movie', extra: [null, { name: 3 }, { name: 'skip', options: 4 }] },
        ],
      },
      answer: (request, response) => {
        if (request.url?.includes('/catalog/') === true) sendJson(response, { metas: [null, 4, { id: 'tt1' }] });
        if (request.url?.includes('/meta/') === true) sendJson(response, { meta: 'none' });
        return response.headersSent;
      },
    });
    const { base } = await makeUser(host, buildConfig([customPreset('u1', 'Up', up.manifestUrl)]));
    const { catalogs } = await getJson(`${base}/manifest.json`);
    expect(catalogs).toEqual([expect.objectContaining({ type: 'movie', extra: [{ name: 'skip' }] })]);
    expect(await getJson(`${base}/catalog/movie/${String(catalogs[0].id)}.json`)).toEqual({ metas: [{ id: 'tt1' }] });
    expect((await fetch(`${base}/meta/movie/tt1.json`)).status).toBe(404);
  });
});

describe('age ratings', () => {
  it('reads ratings from metadata addons and reports hidden titles in lists and catalogs', async () => {
    await using meta = await openFakeAddon({
      answer: (request, response) => {
        if (request.url === '/meta/movie/tt18.json') sendJson(response, { meta: { name: 'A', certification: 'R' } });
        return response.headersSent;
      },
    });
    await using up = await openFakeAddon({
      streams: alphaStreams,
      manifest: { ...streamManifest, resources: ['stream', 'catalog'], catalogs: [{ type: 'movie', id: 'top' }] },
      answer: (request, response) => {
        const metas = [{ id: 'tt18', certification: 'R' }, { id: 'tt6', certification: 'G' }, { id: 'tt0' }];
        if (request.url?.includes('/catalog/') === true) sendJson(response, { metas });
        return response.headersSent;
      },
    });
    await using host = await openAddonsHost({ METADATA_URL: meta.url });
    const { base } = await makeUser(
      host,
      buildConfig([customPreset('u1', 'Up', up.manifestUrl)], { excludedCertifications: ['R'] }),
    );
    expect((await fetchStreams(base, 'movie/tt18')).map(({ description }) => description)).toEqual([
      m.titleRated({ rating: 'R' }),
    ]);
    expect(await fetchStreams(base, 'movie/tt6')).toHaveLength(alphaStreams.length);
    const { catalogs } = await getJson(`${base}/manifest.json`);
    const { metas } = await getJson(`${base}/catalog/movie/${String(catalogs[0].id)}.json`);
    expect(metas.map(({ id }: any) => id)).toEqual(['tt6', 'tt0']);
  });
});
