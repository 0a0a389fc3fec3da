import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson, type FakeAddon } from './fake-addon.ts';
import { openTorBox, type FakeStore } from './fake-stores.ts';
import { configOf, customPreset, getJson, makeUser, openAddonsHost, streamsOf } from './rig.ts';

const day = 24 * 3_600_000;
const at = (days: number): string => new Date(Date.now() + days * day).toISOString();
const film = (letter: string, resolution = '1080p'): object => ({
  name: letter,
  url: `http://h.example/${letter}`,
  behaviorHints: { filename: `${letter}.2019.${resolution}.WEB-DL.x264-GRP.mkv` },
});

describe('what a configuration can want further', () => {
  let host: TestHost;
  let world: FakeAddon;
  let torBox: FakeStore;
  /** TMDB, SeaDex, the ids of anime and the metadata, as they answer. */
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
          const known = url.searchParams.get('filter') === 'alID=16498' && url.searchParams.get('expand') === 'trs';
          const trs = [
            { infoHash: 'b'.repeat(40), isBest: true, releaseGroup: 'BEST' },
            { infoHash: 'c'.repeat(40), isBest: false, releaseGroup: 'OTHER' },
            { infoHash: '<redacted>', isBest: true, releaseGroup: 'HIDDEN' },
          ];
          sendJson(response, { items: known ? [{ alID: 16498, expand: { trs } }] : [] }, seadex.status);
        } else if (url.pathname.startsWith('/meta/'))
          sendJson(response, {
            meta: {
              ...{ name: 'Show', year: '2019' },
              videos: [
                { id: 'tt9:1:1', season: 1, episode: 1, released: at(-30) },
                { id: 'tt9:1:2', season: 1, episode: 2, released: at(3) },
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
    const streams = await streamsOf(base, path);
    return streams.map(({ name, behaviorHints }: any) => behaviorHints?.filename?.[0] ?? name);
  };

  describe('groups of addons', () => {
    const two = async (groups: object, second: (asked: number) => object[] | 'hang' = () => [film('C')]) => {
      let asked = 0;
      await using first = await openFakeAddon({ streams: [film('A'), film('B', '720p')] });
      await using other = await openFakeAddon({
        answer: (request, response) => {
          if (!(request.url ?? '').includes('/stream/')) return false;
          const streams = second((asked += 1));
          if (streams !== 'hang') sendJson(response, { streams });
          return true;
        },
      });
      const presets = [
        customPreset('one', 'One', first.manifestUrl),
        customPreset('two', 'Two', other.manifestUrl, { timeout: 30_000 }),
      ];
      return { shown: await names(configOf(presets, { groups, deadline: 60_000 })), asked };
    };
    const groupings = (condition: string): object[] => [
      { addons: ['one'], condition: 'true' },
      { addons: ['two'], condition },
    ];

    it.each([
      ['fewer than wanted: the next group counts', 'count(previousStreams) < 3', ['A', 'B', 'C']],
      ['enough: it does not', 'count(totalStreams) < 2', ['A', 'B']],
      ['what is looked at is what is shown', "count(resolution(totalStreams, '720p')) > 0", ['A', 'B', 'C']],
      ['by what is looked for', "queryType == 'series'", ['A', 'B']],
    ])('%s', async (_what, condition, wanted) => {
      expect((await two({ enabled: true, groupings: groupings(condition) })).shown).toEqual(wanted);
    });

    it('a group that is not needed is not waited for, nor asked at all where groups follow each other', async () => {
      const enough = groupings('count(totalStreams) < 2');
      expect(await two({ enabled: true, groupings: enough }, () => 'hang')).toMatchObject({ shown: ['A', 'B'] });
      const later = await two({ enabled: true, groupings: enough, behaviour: 'sequential' });
      expect(later).toEqual({ shown: ['A', 'B'], asked: 0 });
      const both = await two({ enabled: true, groupings: groupings('true'), behaviour: 'sequential' });
      expect(both).toEqual({ shown: ['A', 'B', 'C'], asked: 1 });
    });

    it('an answer that is there counts, however late the group before it was', async () => {
      await using slow = await openFakeAddon({ answer: (request) => (request.url ?? '').includes('/stream/') });
      await using quick = await openFakeAddon({ streams: [film('C')] });
      const presets = [
        customPreset('one', 'Slow', slow.manifestUrl, { timeout: 30_000 }),
        customPreset('two', 'Quick', quick.manifestUrl),
      ];
      const groups = { enabled: true, groupings: groupings('true') };
      expect(await names(configOf(presets, { groups, deadline: 1000 }))).toEqual(['C', '[❌] Slow']);
    });

    it('a filtered stream does not count, and an addon of no group is in the first', async () => {
      await using first = await openFakeAddon({ streams: [film('A', '720p')] });
      await using free = await openFakeAddon({ streams: [film('F')] });
      await using last = await openFakeAddon({ streams: [film('C')] });
      const presets = [
        customPreset('one', 'One', first.manifestUrl),
        customPreset('two', 'Two', last.manifestUrl),
        customPreset('free', 'Free', free.manifestUrl),
      ];
      const more = (condition: string): object => ({
        excludedResolutions: ['720p'],
        groups: { enabled: true, groupings: groupings(condition) },
      });
      expect(await names(configOf(presets, more('count(previousStreams) == 1')))).toEqual(['F', 'C']);
    });

    it('a condition that is none is told of, and switched off they are no groups', async () => {
      const { shown } = await two({ enabled: true, groupings: groupings('count(totalStreams)') });
      expect(shown).toEqual(['A', 'B', '[❌] Groups']);
      expect((await two({ enabled: false, groupings: groupings('false') })).shown).toEqual(['A', 'B', 'C']);
    });
  });

  it('an expression says when it is enough', async () => {
    await using good = await openFakeAddon({ streams: [film('A')] });
    await using slow = await openFakeAddon({
      answer: (request) => (request.url ?? '').includes('/stream/'),
    });
    const presets = [
      customPreset('g', 'Good', good.manifestUrl),
      customPreset('s', 'Slow', slow.manifestUrl, { timeout: 50_000 }),
    ];
    const condition = "'Good' in queriedAddons and count(resolution(totalStreams, '1080p')) >= 1";
    const more = { deadline: 60_000, dynamicAddonFetching: { enabled: true, condition } };
    expect(await names(configOf(presets, more))).toEqual(['A']);
  });

  it('reports a condition that looks at too much, and lists what there is', async () => {
    await using one = await openFakeAddon({ streams: [film('A')] });
    await using other = await openFakeAddon({ streams: [film('B')] });
    const presets = [customPreset('o', 'One', one.manifestUrl), customPreset('t', 'Other', other.manifestUrl)];
    const condition = `(${Array.from({ length: 1200 }, () => "'aaaaa'").join('+')}) == ''`;
    const more = { dynamicAddonFetching: { enabled: true, condition } };
    expect(await names(configOf(presets.slice(0, 1), more))).toEqual(['A', '[❌] Early end']);
    expect(await names(configOf(presets, more))).toEqual(['A', 'B', '[❌] Early end']);
  });

  describe('what is not released yet', () => {
    const config = async (addon: FakeAddon, more: object, key: object = { tmdbApiKey: 'TMDBKEY' }) =>
      configOf([customPreset('a', 'A', addon.manifestUrl)], {
        ...key,
        digitalReleaseFilter: { enabled: true, ...more },
      });
    const dated = (type: number, days: number): object => ({ type, release_date: at(days), certification: '' });

    it('is hidden as long as nobody can have it at home, which is said', async () => {
      await using up = await openFakeAddon({ streams: [film('A')] });
      // One answer is remembered for hours, so each case is a film of its own in the end; this one is asked once.
      tmdb.dates = [dated(3, -20), dated(4, 10)];
      const { base } = await makeUser(host, await config(up, {}));
      const streams = await streamsOf(base, 'movie/tt5');
      expect(streams).toHaveLength(1);
      expect(streams[0].description).toBe(
        `This is not released yet (${at(10).slice(0, 10)}), and this configuration hides what cannot be the real thing.`,
      );
      expect(JSON.stringify(streams)).not.toContain('TMDBKEY');
      expect(tmdb.asked).toEqual(['TMDBKEY']);
      expect(await names(await config(up, { tolerance: 14 }), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, { requestTypes: ['series'] }), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, { addons: ['other'] }), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, {}, {}), 'movie/tt5')).toEqual(['A']);
      expect(await names(await config(up, { enabled: false }), 'movie/tt5')).toEqual(['A']);
    });

    it('of a series by the day of the episode', async () => {
      await using up = await openFakeAddon({ streams: [film('A')] });
      expect(await names(await config(up, {}), 'series/tt9:1:1')).toEqual(['A']);
      expect(await names(await config(up, {}), 'series/tt9:1:2')).toEqual(['[❌] AIOStreams']);
      expect(await names(await config(up, { tolerance: 4 }), 'series/tt9:1:2')).toEqual(['A']);
    });
  });

  it('what SeaDex recommends is marked, comes first and is told where it cannot be asked', async () => {
    const torrent = (hash: string, group: string): object => ({
      infoHash: hash.repeat(40),
      title: `[${group}] Show - 01 [1080p].mkv`,
    });
    await using up = await openFakeAddon({
      manifest: { id: 'u', name: 'U', version: '1.0.0', types: ['series'], resources: ['stream'] },
      streams: [torrent('a', 'NONE'), torrent('c', 'X'), torrent('d', 'HIDDEN'), torrent('b', 'Y')],
    });
    const config = configOf([customPreset('u', 'Up', up.manifestUrl)], {
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
    const shown = async (id: string): Promise<string[]> =>
      (await streamsOf(base, `series/${encodeURIComponent(id)}`)).map(({ name }) => name);
    expect(await shown('kitsu:7442:1')).toEqual(['d best!', 'b best!', 'c!', 'a']);
    expect(await shown('anilist:16498:1')).toEqual(['d best!', 'b best!', 'c!', 'a']);
    expect(await shown('anilist:1:1')).toEqual(['a', 'c', 'd', 'b']);
    seadex.status = 503;
    const [last] = (await streamsOf(base, 'series/anilist:2:1')).slice(-1);
    expect(last.description).toBe('SeaDex could not be reached, so nothing is marked as recommended.');
    const quiet = await makeUser(host, { ...config, sortCriteria: { global: [] }, enableSeadex: false });
    expect(await streamsOf(quiet.base, 'series/anilist:2:1')).toHaveLength(4);
  });

  describe('the next episode', () => {
    const series = (hash: string) =>
      openFakeAddon({
        manifest: { id: 'u', name: 'U', version: '1.0.0', types: ['series'], resources: ['stream'] },
        answer: (request, response) => {
          const found = /\/stream\/series\/tt8%3A1%3A(\d+)\.json/.exec(request.url ?? '');
          if (found === null) return false;
          const name = `Show.S01E0${found[1] ?? ''}.1080p.WEB-DL.x264-GRP.mkv`;
          return (sendJson(response, { streams: [{ infoHash: hash.repeat(40), title: name }] }), true);
        },
      });
    const added = (): string[] =>
      torBox.asked.filter(({ path }) => path === '/torrents/createtorrent').map(({ body }) => String(body));

    it('is fetched by the service while this one is watched, once, and only where nothing of it plays at once', async () => {
      await using up = await series('e');
      const services = [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }];
      const config = (more: object): object =>
        configOf([customPreset('u', 'Up', up.manifestUrl)], { services, ...more });
      const plain = await makeUser(host, config({}));
      await streamsOf(plain.base, 'series/tt8:1:3');
      const before = added().length;
      const { base } = await makeUser(host, config({ precacheNextEpisode: true }));
      await streamsOf(base, 'series/tt8:1:1');
      await vi.waitFor(() => expect(added()).toHaveLength(before + 1), 60_000);
      expect(added().at(-1)).toContain('e'.repeat(40));
      expect(up.asked.some((path) => path.includes('tt8%3A1%3A2'))).toBe(true);
      await streamsOf(base, 'series/tt8:1:1');
      const never = await makeUser(host, config({ precacheNextEpisode: true, precacheSelector: '[]' }));
      await streamsOf(never.base, 'series/tt8:1:5');
      await vi.waitFor(() => expect(up.asked.some((path) => path.includes('tt8%3A1%3A6'))).toBe(true), 60_000);
      expect(added()).toHaveLength(before + 1);
    });
  });

  it('members of it that nobody knows survive', async () => {
    const config = configOf([], {
      groups: { enabled: true, groupings: [{ addons: ['x'], condition: 'true', note: 1 }] },
    });
    const made = await makeUser(host, config);
    const { data } = await getJson(`${host.url('addons')}/api/v1/user`, {
      headers: { authorization: `Basic ${Buffer.from(`${made.uuid}:golden-pass-1`).toString('base64')}` },
    });
    expect(data.userData.groups).toEqual(config['groups']);
  });
});
