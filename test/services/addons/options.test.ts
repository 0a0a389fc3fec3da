import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import { openTorBox, type FakeStore } from './fake-stores.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

const day = 24 * 3_600_000;
const toDate = (days: number): string => new Date(Date.now() + days * day).toISOString();
const createFilm = (letter: string, resolution = '1080p'): object => ({
  name: letter,
  url: `http://h.example/${letter}`,
  behaviorHints: { filename: `${letter}.2019.${resolution}.WEB-DL.x264-GRP.mkv` },
});

describe('further options of a configuration', () => {
  let host: TestHost;
  let world: FakeAddon;
  let torBox: FakeStore;
  /** Responses of TMDB, SeaDex, the mapping of anime IDs and the metadata service. */
  const tmdb = { dates: [] as object[], asked: [] as (string | undefined)[] };
  const seadex = { status: 200 };
  beforeAll(async () => {
    world = await openFakeAddon({
      answer: (request, response) => {
        const url = new URL(request.url ?? '/', 'http://x');
        if (url.pathname === '/3/find/tt5') {
          tmdb.asked.push(request.headers.authorization ?? url.searchParams.get('api_key') ?? undefined);
          sendJson(response, { movie_results: [{ id: 55, title: 'Soon' }], tv_results: [] });
        } else if (url.pathname === '/3/movie/55/release_dates')
          sendJson(response, { id: 55, results: [{ iso_3166_1: 'US', release_dates: tmdb.dates }] });
        else if (url.pathname === '/mappings' && url.searchParams.get('kitsu_id') === '7442')
          sendJson(response, { mappings: { anilist_id: 16498, kitsu_id: '7442' } });
        else if (url.pathname === '/api/collections/entries/records') {
          const isExpectedQuery =
            url.searchParams.get('filter') === 'alID=16498' && url.searchParams.get('expand') === 'trs';
          const trs = [
            { infoHash: 'b'.repeat(40), isBest: true, releaseGroup: 'BEST' },
            { infoHash: 'c'.repeat(40), isBest: false, releaseGroup: 'OTHER' },
            { infoHash: '<redacted>', isBest: true, releaseGroup: 'HIDDEN' },
          ];
          sendJson(response, { items: isExpectedQuery ? [{ alID: 16498, expand: { trs } }] : [] }, seadex.status);
        } else if (url.pathname.startsWith('/meta/'))
          sendJson(response, {
            meta: {
              ...{ name: 'Show', year: '2019' },
              videos: [
                { id: 'tt9:1:1', season: 1, episode: 1, released: toDate(-30) },
                { id: 'tt9:1:2', season: 1, episode: 2, released: toDate(3) },
              ],
            },
          });
        return response.headersSent;
      },
    });
    torBox = await openTorBox();
    host = await openAddonsHost({
      ...{ TMDB_URL: world.url, SEADEX_URL: world.url, ANIME_MAPPING_URL: world.url, METADATA_URL: world.url },
      PROVIDER_H_BASE_URL: torBox.url,
    });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
    await torBox[Symbol.asyncDispose]();
  });

  const names = async (config: object, path?: string): Promise<string[]> => {
    const { base } = await makeUser(host, config);
    const streams = await fetchStreams(base, path);
    return streams.map(({ name, behaviorHints }: any) => behaviorHints?.filename?.[0] ?? name);
  };

  describe('groups of addons', () => {
    const two = async (
      groups: object,
      second: (requestCount: number) => object[] | 'hang' = () => [createFilm('C')],
    ) => {
      let requestCount = 0;
      await using first = await openFakeAddon({ streams: [createFilm('A'), createFilm('B', '720p')] });
      await using otherAddon = await openFakeAddon({
        answer: (request, response) => {
          if (!(request.url ?? '').includes('/stream/')) return false;
          const streams = second((requestCount += 1));
          if (streams !== 'hang') sendJson(response, { streams });
          return true;
        },
      });
      const presets = [
        customPreset('one', 'One', first.manifestUrl),
        customPreset('two', 'Two', otherAddon.manifestUrl, { timeout: 30_000 }),
      ];
      return { shown: await names(buildConfig(presets, { groups, deadline: 60_000 })), asked: requestCount };
    };
    const groupings = (condition: string): object[] => [
      { addons: ['one'], condition: 'true' },
      { addons: ['two'], condition },
    ];

    it.each([
      ['the next group is used below the minimum', 'count(previousStreams) < 3', ['A', 'B', 'C']],
      ['the next group is not used above the minimum', 'count(totalStreams) < 2', ['A', 'B']],
      ['filtered streams are excluded', "count(resolution(totalStreams, '720p')) > 0", ['A', 'B', 'C']],
      ['by the query type', "queryType == 'series'", ['A', 'B']],
    ])('are requested by condition: %s', async (_case, condition, expected) => {
      expect((await two({ enabled: true, groupings: groupings(condition) })).shown).toEqual(expected);
    });

    it('are not awaited or requested when they are not needed', async () => {
      const condition = groupings('count(totalStreams) < 2');
      expect(await two({ enabled: true, groupings: condition }, () => 'hang')).toMatchObject({ shown: ['A', 'B'] });
      const sequential = await two({ enabled: true, groupings: condition, behaviour: 'sequential' });
      expect(sequential).toEqual({ shown: ['A', 'B'], asked: 0 });
      const both = await two({ enabled: true, groupings: groupings('true'), behaviour: 'sequential' });
      expect(both).toEqual({ shown: ['A', 'B', 'C'], asked: 1 });
    });

    it('counts an available response even if the former group was late', async () => {
      await using slow = await openFakeAddon({ answer: (request) => (request.url ?? '').includes('/stream/') });
      await using quick = await openFakeAddon({ streams: [createFilm('C')] });
      const presets = [
        customPreset('one', 'Slow', slow.manifestUrl, { timeout: 30_000 }),
        customPreset('two', 'Quick', quick.manifestUrl),
      ];
      const groups = { enabled: true, groupings: groupings('true') };
      expect(await names(buildConfig(presets, { groups, deadline: 1000 }))).toEqual(['C', '[❌] Slow']);
    });

    it('does not count filtered streams, and requests addons without a group first', async () => {
      await using first = await openFakeAddon({ streams: [createFilm('A', '720p')] });
      await using free = await openFakeAddon({ streams: [createFilm('F')] });
      await using last = await openFakeAddon({ streams: [createFilm('C')] });
      const presets = [
        customPreset('one', 'One', first.manifestUrl),
        customPreset('two', 'Two', last.manifestUrl),
        customPreset('free', 'Free', free.manifestUrl),
      ];
      const overrides = (condition: string): object => ({
        excludedResolutions: ['720p'],
        groups: { enabled: true, groupings: groupings(condition) },
      });
      expect(await names(buildConfig(presets, overrides('count(previousStreams) == 1')))).toEqual(['F', 'C']);
    });

    it('reports an invalid condition, and ignores disabled groups', async () => {
      const { shown } = await two({ enabled: true, groupings: groupings('count(totalStreams)') });
      expect(shown).toEqual(['A', 'B', '[❌] Groups']);
      expect((await two({ enabled: false, groupings: groupings('false') })).shown).toEqual(['A', 'B', 'C']);
    });
  });

  it('ends the wait when an expression is true', async () => {
    await using good = await openFakeAddon({ streams: [createFilm('A')] });
    await using slow = await openFakeAddon({
      answer: (request) => (request.url ?? '').includes('/stream/'),
    });
    const presets = [
      customPreset('g', 'Good', good.manifestUrl),
      customPreset('s', 'Slow', slow.manifestUrl, { timeout: 50_000 }),
    ];
    const condition = "'Good' in queriedAddons and count(resolution(totalStreams, '1080p')) >= 1";
    const overrides = { deadline: 60_000, dynamicAddonFetching: { enabled: true, condition } };
    expect(await names(buildConfig(presets, overrides))).toEqual(['A']);
  });

  it('reports a condition above the budget and lists the streams', async () => {
    await using firstAddon = await openFakeAddon({ streams: [createFilm('A')] });
    await using otherAddon = await openFakeAddon({ streams: [createFilm('B')] });
    const presets = [
      customPreset('o', 'One', firstAddon.manifestUrl),
      customPreset('t', 'Other', otherAddon.manifestUrl),
    ];
    const condition = `(${Array.from({ length: 1200 }, () => "'aaaaa'").join('+')}) == ''`;
    const overrides = { dynamicAddonFetching: { enabled: true, condition } };
    expect(await names(buildConfig(presets.slice(0, 1), overrides))).toEqual(['A', '[❌] Early end']);
    expect(await names(buildConfig(presets, overrides))).toEqual(['A', 'B', '[❌] Early end']);
  });

  describe('unreleased titles', () => {
    const config = async (addon: FakeAddon, overrides: object, key: object = { tmdbApiKey: 'TMDBKEY' }) =>
      buildConfig([customPreset('a', 'A', addon.manifestUrl)], {
        ...key,
        digitalReleaseFilter: { enabled: true, ...overrides },
      });
    const dated = (type: number, days: number): object => ({ type, release_date: toDate(days), certification: '' });

    it('are hidden until the release for home use, with a message', async () => {
      await using up = await openFakeAddon({ streams: [createFilm('A')] });
      // Responses are cached for hours, so each case uses another film.
      tmdb.dates = [dated(3, -20), dated(4, 10)];
      const { base } = await makeUser(host, await config(up, {}));
      const streams = await fetchStreams(base, 'movie/tt5');
      expect(streams).toHaveLength(1);
      expect(streams[0].description).toBe(m.titleNotReleased({ date: toDate(10).slice(0, 10) }));
      expect(JSON.stringify(streams)).not.toContain('TMDBKEY');
      expect(tmdb.asked).toEqual(['TMDBKEY']);
      expect(await names(await config(up, { tolerance: 14 }), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, { requestTypes: ['series'] }), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, { addons: ['other'] }), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, {}, {}), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, { enabled: false }), 'movie/tt5')).toEqual(['A']);
    });

    it('are hidden by the date of the episode', async () => {
      await using up = await openFakeAddon({ streams: [createFilm('A')] });
      expect(await names(await config(up, {}), 'series/tt9:1:1')).toEqual(['A']);
      expect(await names(await config(up, {}), 'series/tt9:1:2')).toEqual(['[❌] AIOStreams']);
      expect(await names(await config(up, { tolerance: 4 }), 'series/tt9:1:2')).toEqual(['A']);
    });
  });

  it('marks and sorts recommendations of SeaDex and reports failed requests', async () => {
    const torrent = (hash: string, group: string): object => ({
      infoHash: hash.repeat(40),
      title: `[${group}] Show - 01 [1080p].mkv`,
    });
    await using up = await openFakeAddon({
      manifest: { id: 'u', name: 'U', version: '1.0.0', types: ['series'], resources: ['stream'] },
      streams: [torrent('a', 'NONE'), torrent('c', 'X'), torrent('d', 'HIDDEN'), torrent('b', 'Y')],
    });
    const config = buildConfig([customPreset('u', 'Up', up.manifestUrl)], {
      sortCriteria: { global: [{ key: 'seadex', direction: 'desc' }] },
      formatter: {
        id: 'custom',
        definitions: {
          custom: {
            name: '{stream.infoHash::slice(0,1)}{stream.seadexBest::istrue[" best"||""]}{stream.seadex::istrue["!"||""]}',
            description: '',
          },
        },
      },
    });
    const { base } = await makeUser(host, config);
    const getVisibleNames = async (id: string): Promise<string[]> =>
      (await fetchStreams(base, `series/${encodeURIComponent(id)}`)).map(({ name }) => name);
    expect(await getVisibleNames('kitsu:7442:1')).toEqual(['d best!', 'b best!', 'c!', 'a']);
    expect(await getVisibleNames('anilist:16498:1')).toEqual(['d best!', 'b best!', 'c!', 'a']);
    expect(await getVisibleNames('anilist:1:1')).toEqual(['a', 'c', 'd', 'b']);
    seadex.status = 503;
    const [last] = (await fetchStreams(base, 'series/anilist:2:1')).slice(-1);
    expect(last.description).toBe(m.seaDexUnreachable());
    const quiet = await makeUser(host, { ...config, sortCriteria: { global: [] }, enableSeadex: false });
    expect(await fetchStreams(quiet.base, 'series/anilist:2:1')).toHaveLength(4);
  });

  describe('precache of the next episode', () => {
    const series = (hash: string) =>
      openFakeAddon({
        manifest: { id: 'u', name: 'U', version: '1.0.0', types: ['series'], resources: ['stream'] },
        answer: (request, response) => {
          const match = /\/stream\/series\/tt8%3A1%3A(\d+)\.json/.exec(request.url ?? '');
          if (match === null) return false;
          const name = `Show.S01E0${match[1] ?? ''}.1080p.WEB-DL.x264-GRP.mkv`;
          return (sendJson(response, { streams: [{ infoHash: hash.repeat(40), title: name }] }), true);
        },
      });
    const added = (): string[] =>
      torBox.requests.filter(({ path }) => path === '/torrents/createtorrent').map(({ body }) => String(body));

    it('downloads the next episode once while the current one plays, if no stream is available', async () => {
      await using up = await series('e');
      const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }];
      const config = (overrides: object): object =>
        buildConfig([customPreset('u', 'Up', up.manifestUrl)], { services, ...overrides });
      const plainProfile = await makeUser(host, config({}));
      await fetchStreams(plainProfile.base, 'series/tt8:1:3');
      const before = added().length;
      const { base } = await makeUser(host, config({ precacheNextEpisode: true }));
      await fetchStreams(base, 'series/tt8:1:1');
      await vi.waitFor(() => expect(added()).toHaveLength(before + 1), 60_000);
      expect(added().at(-1)).toContain('e'.repeat(40));
      expect(up.requests.some((path) => path.includes('tt8%3A1%3A2'))).toBe(true);
      await fetchStreams(base, 'series/tt8:1:1');
      const never = await makeUser(host, config({ precacheNextEpisode: true, precacheSelector: '[]' }));
      await fetchStreams(never.base, 'series/tt8:1:5');
      await vi.waitFor(() => expect(up.requests.some((path) => path.includes('tt8%3A1%3A6'))).toBe(true), 60_000);
      expect(added()).toHaveLength(before + 1);
    });
  });

  it('preserves unknown fields', async () => {
    const config = buildConfig([], {
      groups: { enabled: true, groupings: [{ addons: ['x'], condition: 'true', note: 1 }] },
    });
    const profile = await makeUser(host, config);
    const { data } = await getJson(`${host.url('addons')}/api/v1/user`, {
      headers: { authorization: `Basic ${Buffer.from(`${profile.uuid}:golden-pass-1`).toString('base64')}` },
    });
    expect(data.userData.groups).toEqual(config['groups']);
  });
});
