import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost } from './rig.ts';

const originalPoster = 'https://pictures.example/own.jpg';
const entries = [
  { id: 'tt0111161', type: 'movie' },
  { id: 'tmdb:278', type: 'movie' },
  { id: 'tmdb:1396', type: 'series' },
  { id: 'tvdb:81189', type: 'series' },
  { id: 'tvdb:12', type: 'movie' },
  { id: 'kitsu:1', type: 'series' },
  { id: 'tt0000001', type: 'movie', posterShape: 'landscape' },
  { id: 'tt0000002', type: 'channel', posterShape: 'regular' },
  { id: 'tmdb:5', type: 'channel' },
  { id: 'tt1/../../evil', type: 'movie' },
].map((entry) => ({ ...entry, name: entry.id, poster: originalPoster }));

describe('posters with ratings', () => {
  let host: TestHost;
  let up: FakeAddon;
  beforeAll(async () => {
    host = await openAddonsHost();
    up = await openFakeAddon({
      manifest: {
        ...{ id: 'p', name: 'P', version: '1.0.0', types: ['movie', 'series'], resources: ['catalog', 'meta'] },
        catalogs: [{ type: 'movie', id: 'list', name: 'List' }],
      },
      answer: (request, response) => {
        const resource = request.url?.split('/')[1];
        if (resource === 'catalog') sendJson(response, { metas: entries });
        else if (resource === 'meta') sendJson(response, { meta: entries[0] });
        return response.headersSent;
      },
    });
  });
  afterAll(async () => {
    await up[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  const make = async (overrides: object): Promise<string> =>
    (await makeUser(host, buildConfig([customPreset('p', 'P', up.manifestUrl)], overrides))).base;
  const posters = async (overrides: object): Promise<string[]> => {
    const base = await make(overrides);
    const { catalogs } = await getJson(`${base}/manifest.json`);
    const { metas } = await getJson(`${base}/catalog/movie/${String(catalogs[0].id)}.json`);
    return metas.map(({ poster }: { poster: string }) => poster);
  };
  const unchanged = entries.map(() => originalPoster);

  it('are added to catalogs for known titles, with the key of the configuration', async () => {
    const rpdb = 'https://api.ratingposterdb.com/t0-key';
    expect(await posters({ rpdbApiKey: ' t0-key ' })).toEqual([
      `${rpdb}/imdb/poster-default/tt0111161.jpg?fallback=true`,
      `${rpdb}/tmdb/poster-default/movie-278.jpg?fallback=true`,
      `${rpdb}/tmdb/poster-default/series-1396.jpg?fallback=true`,
      `${rpdb}/tvdb/poster-default/81189.jpg?fallback=true`,
      ...[originalPoster, originalPoster, originalPoster],
      `${rpdb}/imdb/poster-default/tt0000002.jpg?fallback=true`,
      ...[originalPoster, originalPoster],
    ]);
  });

  it.each([
    [
      { posterService: 'top-poster', topPosterApiKey: 'k/y' },
      'https://api.top-streaming.stream/k%2Fy/tmdb/poster-default/series-1396.jpg?fallback=true',
    ],
    [
      { posterService: 'aioratings', aioratingsApiKey: 'key' },
      'https://api.aioratings.com/key/tmdb/poster-default/tv-1396.jpg',
    ],
    [
      { posterService: 'aioratings', aioratingsApiKey: 'key', aioratingsProfileId: 'mine' },
      'https://api.aioratings.com/key/tmdb/mine/tv-1396.jpg',
    ],
    [
      { posterService: 'openposterdb', openposterdbApiKey: 'key' },
      'https://openposterdb.com/key/tmdb/poster-default/series-1396.jpg?fallback=true',
    ],
    [
      {
        ...{ posterService: 'openposterdb', openposterdbApiKey: 'key', openposterdbUrl: 'http://nas.lan:3000/' },
        openposterdbParameters: '?lang=de',
      },
      'http://nas.lan:3000/key/tmdb/poster-default/series-1396.jpg?lang=de',
    ],
  ])('are loaded from %o', async (overrides, expected) => {
    expect((await posters(overrides))[2]).toBe(expected);
  });

  it.each([
    {},
    { posterService: 'none', rpdbApiKey: 'key' },
    { posterService: 'top-poster', rpdbApiKey: 'key' },
    { posterService: 'rpdb', rpdbApiKey: ' ' },
    { posterService: 'openposterdb', openposterdbApiKey: 'key', openposterdbUrl: 'javascript:alert(1)' },
    { posterService: 'unheard-of' },
  ])('stays as the addon lists it with %o', async (overrides) => {
    expect(await posters(overrides)).toEqual(unchanged);
  });

  it('are added to metadata if the configuration enables it', async () => {
    const meta = async (overrides: object): Promise<string> =>
      (await getJson(`${await make({ rpdbApiKey: 'key', ...overrides })}/meta/movie/tt0111161.json`)).meta.poster;
    expect(await meta({})).toBe(originalPoster);
    expect(await meta({ usePosterServiceForMeta: true })).toBe(
      'https://api.ratingposterdb.com/key/imdb/poster-default/tt0111161.jpg?fallback=true',
    );
  });
});
