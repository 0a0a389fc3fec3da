import * as m from '#messages/addons-problems';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { alphaStreams, betaStreams, openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import {
  buildConfig,
  customPreset,
  getJson,
  makeUser,
  openAddonsHost,
  password,
  readJson,
  type CreatedUser,
} from './rig.ts';

/** Recorded exchange of the peer. */
function golden(name: string): { request: any; response: any } {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8'));
}

let host: TestHost;
let alpha: FakeAddon;
let beta: FakeAddon;
let url: string;

beforeAll(async () => {
  host = await openAddonsHost();
  url = host.url('addons');
  alpha = await openFakeAddon({ streams: alphaStreams });
  beta = await openFakeAddon({ streams: betaStreams });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await alpha[Symbol.asyncDispose]();
  await beta[Symbol.asyncDispose]();
});

const both = (): object[] => [
  customPreset('al1', 'Alpha', alpha.manifestUrl),
  customPreset('be2', 'Beta', beta.manifestUrl),
];
const post = async (body: object): Promise<Response> =>
  await fetch(`${url}/api/v1/user`, { method: 'POST', body: JSON.stringify(body) });
const basic = (uuid: string, secret = password): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${uuid}:${secret}`).toString('base64')}`,
});

describe('recorded exchanges without a configuration', () => {
  it.each([
    ['01-health', '/api/v1/health'],
    ['03-api-unknown-path', '/api/v1/nothing-of-the-kind'],
  ])('has the recorded response: %s', async (name, path) => {
    const response = await fetch(url + path);
    const { response: want } = golden(name);
    expect(response.status).toBe(want.status);
    expect(await readJson(response)).toEqual(want.body);
  });

  it('returns an error stream with status 200 and CORS headers (06)', async () => {
    const response = await fetch(`${url}/stremio/stream/movie/tt1.json`);
    const { response: want } = golden('06-stream-unconfigured');
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const body = await readJson(response);
    want.body.streams[0].externalUrl = `${url}/stremio/configure`;
    expect(body).toEqual(want.body);
  });

  it('requires configuration in the manifest (05)', async () => {
    const manifest = await getJson(`${url}/stremio/manifest.json`);
    const { body } = golden('05-manifest-unconfigured').response;
    expect(manifest).toMatchObject({
      id: body.id,
      name: body.name,
      behaviorHints: body.behaviorHints,
      catalogs: [],
      resources: [],
    });
  });
});

describe('recorded exchanges of the user API', () => {
  it.each(['10-user-create-missing-password', '11-user-create-short-password'])(
    'has the recorded response: %s',
    async (name) => {
      const { request, response: want } = golden(name);
      const response = await post(request.body);
      expect(response.status).toBe(want.status);
      expect(await readJson(response)).toEqual(want.body);
    },
  );

  it.each(['12-user-create-invalid-config', '13-user-create-unreachable-addon', '14-user-create-bad-manifest-url'])(
    'returns the recorded code: %s',
    async (name) => {
      const { request, response: want } = golden(name);
      const response = await post(request.body);
      const body = await readJson(response);
      expect(response.status).toBe(want.status);
      expect(body.error.code).toBe(want.body.error.code);
      const expected = {
        '12-user-create-invalid-config': 'presets: Invalid input: expected array, received string',
        '13-user-create-unreachable-addon': expect.stringMatching(
          /^Failed to fetch manifest for Gone: Gone isn’t reachable/,
        ),
        '14-user-create-bad-manifest-url': want.body.error.message,
      }[name];
      expect(body.error.message).toEqual(expected);
    },
  );

  it('creates and reads a user, and requires its password (15 to 23)', async () => {
    const created = await post({ config: buildConfig(both(), { addonName: 'My Agg' }), password });
    expect(created.status).toBe(201);
    const { data, ...rest } = await readJson(created);
    const { data: _data, ...expected } = golden('15-user-create-ok').response.body;
    expect(rest).toEqual(expected);
    const { uuid } = data;
    const read = await getJson(`${url}/api/v1/user`, { headers: basic(uuid) });
    expect(read.detail).toBe('User details retrieved successfully');
    expect(read.data.userData).toMatchObject({ uuid, addonName: 'My Agg', formatter: { id: 'torrentio' } });
    expect(read.data.userData.presets).toMatchObject(both());
    for (const [name, headers] of [
      ['22-user-get-no-auth', {}],
      ['23-user-get-wrong-password', basic(uuid, 'nope-nope')],
    ] as const) {
      const response = await fetch(`${url}/api/v1/user`, { headers });
      expect([response.status, await readJson(response)]).toEqual([
        golden(name).response.status,
        golden(name).response.body,
      ]);
    }
  });

  it('changes, verifies and deletes a user (24 and 25)', async () => {
    const created = await post({ config: buildConfig(both(), { addonName: 'My Agg' }), password });
    const { uuid, encryptedPassword } = (await readJson(created)).data;
    const changed = await getJson(`${url}/api/v1/user`, {
      method: 'PUT',
      headers: basic(uuid),
      body: JSON.stringify({ config: buildConfig(both().slice(0, 1), { addonName: 'Renamed' }) }),
    });
    expect(changed).toEqual({ success: true, detail: 'User updated successfully', data: { uuid }, error: null });
    const base = `${url}/stremio/${uuid}/${encryptedPassword}`;
    expect((await getJson(`${base}/manifest.json`)).name).toBe('Renamed');
    const verified = await getJson(`${url}/api/v1/user/verify`, { method: 'POST', headers: basic(uuid) });
    expect(verified.data).toEqual({ uuid, createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) });
    const selfResponse = await fetch(`${url}/api/v1/user`, {
      method: 'PUT',
      headers: basic(uuid),
      body: JSON.stringify({ config: buildConfig([customPreset('se1', 'Self', `${base}/manifest.json`)]) }),
    });
    expect(selfResponse.status).toBe(400);
    expect((await readJson(selfResponse)).error).toEqual({
      code: 'USER_INVALID_CONFIG',
      message: 'Self would cause infinite self scraping, ensure you wrap a different user.',
    });
    const removed = await getJson(`${url}/api/v1/user`, { method: 'DELETE', headers: basic(uuid) });
    expect(removed).toEqual(golden('55-user-delete').response.body);
    const after = await getJson(`${base}/stream/movie/tt1.json`);
    expect(after.streams[0].description).toBe(golden('56-stream-after-delete').response.body.streams[0].description);
  });

  it('returns errors as items for invalid addresses, and as an error for the manifest (29 to 35)', async () => {
    const { uuid } = await makeUser(host, buildConfig(both()));
    const unknownUser = '00000000-0000-4000-8000-000000000000';
    const stream = await getJson(`${url}/stremio/${uuid}/AAAA/stream/movie/tt1.json`);
    expect(stream.streams[0]).toMatchObject({ name: '[❌] AIOStreams', description: 'Invalid password' });
    const manifest = await fetch(`${url}/stremio/${uuid}/AAAA/manifest.json`);
    expect(manifest.status).toBe(400);
    expect((await readJson(manifest)).error.code).toBe(golden('30-manifest-bad-password').response.body.error.code);
    const unknown = await fetch(`${url}/stremio/${unknownUser}/AAAA/manifest.json`);
    expect([unknown.status, await readJson(unknown)]).toEqual([400, golden('32-manifest-unknown-user').response.body]);
    const [meta, catalog, subtitles] = await Promise.all(
      ['meta', 'catalog', 'subtitles'].map((resource) =>
        getJson(`${url}/stremio/${unknownUser}/AAAA/${resource}/movie/x.json`),
      ),
    );
    expect(meta.meta).toMatchObject({ description: 'User not found', type: 'movie' });
    expect(catalog.metas[0]).toMatchObject({ description: 'User not found', type: 'movie' });
    expect(subtitles.subtitles[0].lang).toContain('User not found');
  });
});

describe('recorded streams', () => {
  it('combines two addons (16 and 17)', async () => {
    const { base, uuid } = await makeUser(host, buildConfig(both(), { addonName: 'My Agg' }));
    const manifest = await getJson(`${base}/manifest.json`);
    const expected = golden('16-manifest-configured').response.body;
    // The peer lists a catalog resource without types, which is omitted here.
    expect(manifest).toMatchObject({
      name: 'My Agg',
      id: `com.aiostreams.viren070.${uuid.slice(0, 12)}`,
      catalogs: [],
      resources: expected.resources.slice(0, 1),
      types: expected.types,
      behaviorHints: expected.behaviorHints,
      addonCatalogs: [],
    });
    expect(await getJson(`${base}/stream/movie/tt0111161.json`)).toEqual(
      golden('17-stream-two-upstreams').response.body,
    );
  });

  it('includes parsed attributes for nested aggregators (18)', async () => {
    const { base } = await makeUser(host, buildConfig(both()));
    const body = await getJson(`${base}/stream/movie/tt0111161.json`, {
      headers: { 'user-agent': 'AIOStreams/2.0 test' },
    });
    expect(body).toEqual(golden('18-stream-with-streamData').response.body);
  });

  it.each([
    ['19-stream-unsupported-type', 'tv/abc'],
    ['20-stream-unsupported-prefix', 'movie/kitsu:1'],
  ])('does not request addons: %s', async (name, path) => {
    const { base } = await makeUser(host, buildConfig(both()));
    expect(await getJson(`${base}/stream/${path}.json`)).toEqual(golden(name).response.body);
  });

  it('returns search results (27 and 28)', async () => {
    const { uuid } = await makeUser(host, buildConfig(both().slice(0, 1)));
    const path = `${url}/api/v1/search?type=movie&id=tt0111161&format=true`;
    expect(await getJson(path, { headers: basic(uuid) })).toEqual(golden('27-search-api').response.body);
    expect((await fetch(path)).status).toBe(golden('28-search-api-no-auth').response.status);
  });

  it('lists errors after streams (36)', async () => {
    await using broken = await openFakeAddon({
      answer: (request, response) => {
        if (request.url?.includes('/stream/') === true) sendJson(response, {}, 500);
        return response.headersSent;
      },
    });
    await using garbled = await openFakeAddon({
      answer: (request, response) => {
        if (request.url?.includes('/stream/') === true) response.end('{"streams":');
        return response.headersSent;
      },
    });
    await using slowAddon = await openFakeAddon({ answer: (request) => request.url?.includes('/stream/') === true });
    const { base } = await makeUser(
      host,
      buildConfig([
        customPreset('al1', 'Alpha', alpha.manifestUrl),
        customPreset('br2', 'Broken', broken.manifestUrl),
        customPreset('ga3', 'Garbled', garbled.manifestUrl),
        customPreset('sl4', 'Sluggish', slowAddon.manifestUrl, { timeout: 1000 }),
      ]),
    );
    const startedAt = performance.now();
    const { streams } = await getJson(`${base}/stream/movie/tt0111161.json`);
    expect(performance.now() - startedAt).toBeLessThan(8000);
    const expected = golden('36-stream-500-malformed-and-timeout').response.body.streams;
    expect(streams.slice(0, 6)).toEqual(expected.slice(0, 6));
    expect(streams.slice(6).map(({ name, description }: any) => [name, description])).toEqual([
      ['[❌] Broken', 'Broken reported an internal error (500).'],
      ['[❌] Garbled', m.addonReturnedNoJson({ name: 'Garbled' })],
      ['[❌] Sluggish', m.addonTimeoutCached({ name: 'Sluggish', seconds: 1 })],
    ]);
  });

  it('deduplicates, filters and sorts by seeders, with statistics (37)', async () => {
    const config = buildConfig(both(), {
      deduplicator: { enabled: true, keys: ['filename'], http: 'single_result', cached: 'single_result' },
      excludedQualities: ['HDTV'],
      sortCriteria: { global: [{ key: 'seeders', direction: 'desc' }] },
      statistics: { enabled: true, position: 'bottom', statsToShow: ['addon', 'filter'] },
    });
    const { base } = await makeUser(host, config);
    const { streams } = await getJson(`${base}/stream/movie/tt0111161.json`);
    const expected = golden('37-stream-dedup-sort-filter-statistics').response.body.streams;
    const bySeeders = [expected[0], expected[2]];
    expect(streams.slice(0, 2)).toEqual(bySeeders);
    expect(streams).toHaveLength(expected.length);
    const statisticsItems = streams.slice(6).map(({ name, streamData }: any) => [name, streamData]);
    expect(statisticsItems).toEqual(expected.slice(6).map(({ name, streamData }: any) => [name, streamData]));
    expect(streams.at(-1).description).toContain('📌 Excluded Quality (1)\n    • 1× HDTV');
  });

  /** Removes the invisible characters that the format Tamtaro uses for its columns. */
  const visible = (text: string): string =>
    text
      .replaceAll(/[\u200B-\u200D]/g, '')
      .replaceAll('\u00A0', ' ')
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ').trim())
      .filter((line) => line !== '')
      .join('\n');

  it.each(['torrentio', 'torbox', 'gdrive', 'lightgdrive', 'minimalisticgdrive', 'prism', 'tamtaro'])(
    'formats streams with %s (38 to 44)',
    async (id) => {
      const number =
        38 + ['torrentio', 'torbox', 'gdrive', 'lightgdrive', 'minimalisticgdrive', 'prism', 'tamtaro'].indexOf(id);
      const { base } = await makeUser(host, buildConfig(both().slice(0, 1), { formatter: { id } }));
      const { streams } = await getJson(`${base}/stream/movie/tt0111161.json`);
      const expected = golden(`${String(number)}-format-${id}`).response.body.streams;
      const seen = id === 'tamtaro' ? visible : (text: string) => text;
      const texts = (list: any[]): string[][] => list.map(({ name, description }) => [seen(name), seen(description)]);
      expect(texts(streams)).toEqual(texts(expected));
    },
  );
});

describe('recorded catalogs', () => {
  let profile: CreatedUser;
  let catalogs: FakeAddon;
  beforeAll(async () => {
    const manifest = {
      ...{ id: 'fake.catalogs', name: 'Catalogs', version: '1.0.0', types: ['movie'], idPrefixes: ['tt'] },
      resources: ['catalog', 'meta', 'subtitles'],
      catalogs: [
        {
          type: 'movie',
          id: 'top',
          name: 'Top',
          extra: [{ name: 'skip' }, { name: 'genre', options: ['Action', 'Drama'] }, { name: 'search' }],
        },
        { type: 'movie', id: 'new', name: 'New' },
      ],
    };
    catalogs = await openFakeAddon({
      manifest,
      answer: (request, response) => {
        const path = (request.url ?? '').split('/').slice(1);
        const poster = 'http://127.0.0.1:1/p.jpg';
        if (path[0] === 'meta') sendJson(response, { meta: { id: 'tt77', type: 'movie', name: 'Meta tt77', poster } });
        if (path[0] === 'subtitles')
          sendJson(response, { subtitles: [{ id: 's1', url: 'http://127.0.0.1:1/s.srt', lang: 'eng' }] });
        if (path[0] === 'catalog') {
          const extra = new URLSearchParams((path[3] ?? '').replace(/\.json$/, ''));
          const requestHeaders = Object.fromEntries(
            ['skip', 'genre', 'search'].flatMap((name) => (extra.has(name) ? [[name, extra.get(name)]] : [])),
          );
          sendJson(response, {
            metas: [{ id: 'tt1', type: 'movie', name: `top ${JSON.stringify(requestHeaders)}`, poster }],
          });
        }
        return response.headersSent;
      },
    });
    profile = await makeUser(host, buildConfig([customPreset('ca1', 'Catalogs', catalogs.manifestUrl)]));
  });
  afterAll(async () => {
    await catalogs[Symbol.asyncDispose]();
  });

  it('lists catalogs with the prefix of their addon (45)', async () => {
    const manifest = await getJson(profile.manifestUrl);
    const expected = golden('45-manifest-with-catalogs').response.body;
    expect(manifest.catalogs).toEqual(expected.catalogs);
    const expectedResources = JSON.parse(
      JSON.stringify(expected.resources).replace('aiostreamserror', 'homeporterror'),
    );
    expect(manifest.resources).toEqual(expectedResources);
  });

  it.each([
    ['46-catalog', 'catalog/movie/ca1e3b0.top'],
    ['47-catalog-extra', 'catalog/movie/ca1e3b0.top/genre=Action&skip=100'],
    ['49-meta', 'meta/movie/tt77'],
    ['51-subtitles', 'subtitles/movie/tt1/videoHash=abc&videoSize=5'],
  ])('has the recorded response: %s', async (name, path) => {
    expect(await getJson(`${profile.base}/${path}.json`)).toEqual(golden(name).response.body);
  });

  it('passes an ampersand in a search unchanged', async () => {
    const { metas } = await getJson(`${profile.base}/catalog/movie/ca1e3b0.top/search=a%20%26%20b%3Dc.json`);
    expect(metas[0].name).toBe('top {"search":"a & b=c"}');
  });

  it('returns an error entry for an unknown catalog and 404 for unknown metadata (48 and 50)', async () => {
    const { metas } = await getJson(`${profile.base}/catalog/movie/zzz.nope.json`);
    expect(metas).toEqual([expect.objectContaining({ name: '[❌] Addon zzz not found', type: 'movie' })]);
    const card = await getJson(`${profile.base}/meta/movie/${encodeURIComponent(metas[0].id)}.json`);
    expect(card.meta).toEqual(metas[0]);
    const meta = await fetch(`${profile.base}/meta/series/xx77.json`);
    expect([meta.status, await readJson(meta)]).toEqual([404, golden('50-meta-no-addon').response.body]);
  });

  it('answers HEAD and OPTIONS (53 and 54)', async () => {
    const head = await fetch(profile.manifestUrl, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const options = await fetch(profile.manifestUrl, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('access-control-allow-origin'), await options.text()]).toEqual([
      200,
      '*',
      'GET, HEAD',
    ]);
  });
});
