import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mergeCatalogs } from '../../../services/addons/domain/catalogs.ts';
import { compileFormat } from '../../../services/addons/domain/format/predefined.ts';
import { parseManifest } from '../../../services/addons/domain/manifest.ts';
import { runPipeline } from '../../../services/addons/domain/pipeline/pipeline.ts';
import { parseTitleRequest, type TitleRequest } from '../../../services/addons/domain/title-request.ts';
import { getManifestUrl } from '../../../services/addons/domain/presets.ts';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { readStreams } from '../../../services/addons/domain/read-stream.ts';
import { parseRelease } from '../../../services/addons/domain/release.ts';
import type { ParsedStream, StreamAddon } from '../../../services/addons/domain/stream.ts';
import { findUnsupportedFeatures } from '../../../services/addons/domain/unsupported-features.ts';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

const addon = (index: number): StreamAddon => ({
  ...{ instanceId: `a${String(index)}e3b0`, presetType: 'custom', name: `Addon ${String(index)}`, index },
  ...{ manifestUrl: '', library: false, formatPassthrough: false, resultPassthrough: false, pinPosition: undefined },
});
const web = (filename: string, overrides: object = {}): object => ({
  url: 'http://h.example/x',
  behaviorHints: { filename },
  ...overrides,
});
const read = (items: readonly object[], from = addon(0)): readonly ParsedStream[] =>
  readStreams(items, from, parseRelease).streams;
const getVisibleNames = (streams: readonly ParsedStream[], overrides: object, titleRequest: TitleRequest): string[] =>
  runPipeline(streams, {
    config: readConfig(buildConfig([], overrides)),
    titleRequest,
    patterns: undefined,
  }).visible.map(({ filename, addon: { index } }) => `${String(index)} ${String(filename)}`);

describe('comparison with the requested title', () => {
  const film: TitleRequest = { ...parseTitleRequest('movie', 'tt1'), titles: ['The Office Party'], year: 2019 };
  const streams = [
    ...read(
      ['The.Office.Party.2019', 'The.Ofice.Party.2019', 'Party.2019', 'The.Office.Party'].map((name) =>
        web(`${name}.1080p.mkv`),
      ),
    ),
    ...read([web('Other.2015.1080p.mkv')], addon(1)),
  ];

  it.each<[string, object, string[]]>([
    ['equal', {}, ['0 The.Office.Party.2019.1080p.mkv', '0 The.Office.Party.1080p.mkv']],
    [
      'alike',
      { similarityThreshold: 0.9 },
      ['0 The.Office.Party.2019.1080p.mkv', '0 The.Ofice.Party.2019.1080p.mkv', '0 The.Office.Party.1080p.mkv'],
    ],
    [
      'with a part of it',
      { mode: 'contains' },
      ['0 The.Office.Party.2019.1080p.mkv', '0 Party.2019.1080p.mkv', '0 The.Office.Party.1080p.mkv'],
    ],
    ['of selected addons only', { addons: ['a1'] }, streams.slice(0, 4).map(({ filename }) => `0 ${String(filename)}`)],
    [
      'of series only',
      { requestTypes: ['series'] },
      streams.map(({ filename, addon: from }) => `${String(from.index)} ${String(filename)}`),
    ],
  ])('matches titles that are %s', (_case, overrides, expected) => {
    expect(getVisibleNames(streams, { titleMatching: { enabled: true, ...overrides } }, film)).toEqual(expected);
  });

  it.each<[string, object, TitleRequest, string[]]>([
    ['of a film', { yearMatching: { enabled: true } }, film, ['2019', 'none']],
    ['that are required', { yearMatching: { enabled: true, strict: true } }, film, ['2019']],
    [
      'in the title options of older configurations',
      { titleMatching: { enabled: true, matchYear: true, yearTolerance: 4 } },
      { ...film, titles: ['A'] },
      ['2015', '2019', 'none'],
    ],
    [
      'of a continued series',
      { yearMatching: { enabled: true, tolerance: 0 } },
      series(2019),
      ['2015', '2019', 'none'],
    ],
    [
      'of the first episode of a series',
      { yearMatching: { enabled: true, tolerance: 0, useInitialAirDate: true } },
      series(2019),
      ['2015', 'none'],
    ],
    ['of a series that ended', { yearMatching: { enabled: true, tolerance: 0 } }, series(2016), ['2015', 'none']],
    ['of other requests', { yearMatching: { enabled: true, requestTypes: ['anime'] } }, film, ['2015', '2019', 'none']],
  ])('matches years %s', (_case, overrides, titleRequest, expected) => {
    const years = read([web('A.2015.1080p.mkv'), web('A.2019.1080p.mkv'), web('A.1080p.mkv')]);
    expect(
      getVisibleNames(years, overrides, titleRequest).map((name) => /\d{4}(?!p)/.exec(name)?.[0] ?? 'none'),
    ).toEqual(expected);
  });

  function series(yearEnd: number): TitleRequest {
    const facts = { genres: [], runtime: undefined, released: undefined, yearEnd, language: undefined, episodes: [] };
    return { ...parseTitleRequest('series', 'tt1:1:1'), year: 2015, facts };
  }

  it('matches episodes of selected addons only', () => {
    const episodes = [...read([web('A.S02E01.mkv')]), ...read([web('A.S02E01.mkv')], addon(1))];
    const overrides = { seasonEpisodeMatching: { enabled: true, addons: ['a0'] } };
    expect(getVisibleNames(episodes, overrides, parseTitleRequest('series', 'tt1:1:1'))).toEqual(['1 A.S02E01.mkv']);
  });

  it('matches ages of selected stream types only', () => {
    const aged = read([
      web('A.mkv', { name: '[RD+] X', description: 'x\n📅 9d' }),
      web('B.mkv', { description: 'x\n📅 9d' }),
    ]);
    expect(aged.map(({ age }) => age)).toEqual([216, 216]);
    const overrides = { requiredAgeRange: [0, 24], ageRangeTypes: ['debrid'] };
    expect(getVisibleNames(aged, overrides, film)).toEqual(['0 B.mkv']);
  });
});

describe('preference among duplicates', () => {
  const film = parseTitleRequest('movie', 'tt1');
  const sized = (name: string, videoSize: number, overrides: object = {}): object =>
    web(name, { ...overrides, behaviorHints: { filename: name, videoSize } });
  const rule = (overrides: object): object => ({
    deduplicator: { enabled: true, http: 'single_result', cached: 'single_result', p2p: 'single_result', ...overrides },
  });

  it.each<[string, object, number]>([
    ['differ in audio tags', { keys: ['smartDetect'] }, 2],
    ['differ in ignored attributes', { keys: ['smartDetect'], smartDetectAttributes: ['size', 'resolution'] }, 1],
    [
      'differ in size by more than the rounding',
      { keys: ['smartDetect'], smartDetectAttributes: ['size'], smartDetectRounding: 1 },
      2,
    ],
    [
      'differ in size by less than the rounding',
      { keys: ['smartDetect'], smartDetectAttributes: ['size'], smartDetectRounding: 50 },
      1,
    ],
    ['have no common attributes', { keys: ['smartDetect'], smartDetectAttributes: ['moonPhase'] }, 2],
  ])('is given to streams where they %s', (_case, overrides, count) => {
    const streams = read([sized('A.2019.1080p.DDP5.1.mkv', 4.0e9), sized('A.2019.1080p.DTS.mkv', 4.1e9)]);
    expect(getVisibleNames(streams, rule(overrides), film)).toHaveLength(count);
  });

  const createStreams = (index: number, seeders: number, library = false): readonly ParsedStream[] =>
    read([{ infoHash: 'a'.repeat(40), title: `A.2019.mkv\n👤 ${String(seeders)}` }], { ...addon(index), library });

  it.each<[string, object, number]>([
    ['the stream with most seeders', {}, 1],
    [
      'the stream of the first addon, before seeders',
      { tiebreakers: [{ type: 'torrent_seeders', position: 'after_addon' }] },
      0,
    ],
    ['the stream of the first addon, without tiebreakers', { tiebreakers: [] }, 0],
  ])('removes duplicates: %s', (_case, overrides, index) => {
    const streams = [...createStreams(0, 3), ...createStreams(1, 9)];
    expect(getVisibleNames(streams, rule(overrides), film).map((name) => name[0])).toEqual([String(index)]);
  });

  it.each<[string, string | undefined, string, string[]]>([
    ['prefers the library', undefined, 'single_result', ['1']],
    ['ignores the library', 'ignore', 'single_result', ['0']],
    ['keeps only the library of all addons', 'exclusive', 'per_addon', ['1']],
    ['prefers the library within each addon', 'prefer', 'per_addon', ['0', '1']],
  ])('keeps streams: %s', (_case, libraryBehaviour, p2p, expected) => {
    const streams = [...createStreams(0, 9), ...createStreams(1, 3, true)];
    expect(getVisibleNames(streams, rule({ libraryBehaviour, p2p }), film).map((name) => name[0])).toEqual(expected);
  });
});

describe('configurations of older and newer versions', () => {
  it('accepts booleans for the release filter and pins, and templates in several places', () => {
    const old = readConfig(
      buildConfig([customPreset('a', 'A', 'http://x/manifest.json', { forceToTop: true })], {
        digitalReleaseFilter: true,
      }),
    );
    expect(old.digitalReleaseFilter).toEqual({ enabled: true });
    const stream = read([web('A.2019.1080p.mkv')])[0]!;
    const name = (format: object): string => compileFormat(format as any).name({ stream, addonName: 'X' });
    const texts = { name: 'own {stream.resolution}', description: '' };
    expect(name({ id: 'custom', definition: texts })).toBe('own 1080p');
    expect(name({ id: 'tamtaro', definitions: { overrides: { tamtaro: texts } } })).toBe('own 1080p');
    expect(name({ id: 'torrentio', definitions: { overrides: { tamtaro: texts } } })).toBe('Addon 0 1080p');
    expect(name({ id: 'constructor', definitions: { overrides: {} } })).toBe('Addon 0 1080p');
  });

  it('hides new catalogs', () => {
    const catalogs = ['one', 'two'].map((id) => ({ type: 'movie', id, name: id }));
    const manifest = parseManifest({ id: 'x', name: 'X', version: '1.0.0', types: [], resources: [], catalogs })!;
    const ids = (changes: { id: string; type: string }[], newHidden: boolean): string[] =>
      mergeCatalogs([{ instanceId: 'a', manifest }], changes, [], { newHidden }).map(({ id }) => id);
    expect(ids([{ id: 'a.two', type: 'movie' }], true)).toEqual(['a.two']);
    expect(ids([{ id: 'a.two', type: 'movie' }], false)).toEqual(['a.two', 'a.one']);
    expect(ids([], true)).toEqual(['a.one', 'a.two']);
  });

  it('reports unknown fields, and ignores fields that do not affect streams', () => {
    const config = readConfig({
      ...buildConfig([]),
      ...{ trusted: true, checkOwned: true, addonCategoryColors: { a: 'red' } },
      ...{ luckyNumber: 7, quietly: false, empty: [] },
      deduplicator: { enabled: true, merge: { enabled: true } },
      proxy: { publicIp: '1.2.3.4' },
    });
    expect(findUnsupportedFeatures(config)).toEqual([
      m.featureMerge(),
      m.featureProxyIp(),
      m.fieldsUnknown({ names: 'luckyNumber' }),
    ]);
  });
});

describe('presets', () => {
  it.each([
    ['torrentio', {}, 'https://torrentio.strem.fun/manifest.json'],
    [
      'torrentio',
      { providers: ['yts', 'eztv'], url: 'https://own.example/' },
      'https://own.example/providers=yts,eztv/manifest.json',
    ],
    ['mediafusion', {}, 'https://mediafusion.elfhosted.com/manifest.json'],
    ['comet', {}, /^https:\/\/comet\.elfhosted\.com\/(eyJ[\w+/=]+)\/manifest\.json$/],
    ['stremthru-torz', {}, /^https:\/\/stremthru\.13377001\.xyz\/stremio\/torz\/(eyJ[\w+/=]+)\/manifest\.json$/],
    ['stremthruTorz', {}, /\/stremio\/torz\/(eyJ[\w+/=]+)\/manifest\.json$/],
    ['library', {}, undefined],
    ['stremthruStore', {}, undefined],
    ['debridio', {}, undefined],
    ['debridio', { manifestUrl: 'stremio://addon.example/manifest.json' }, 'https://addon.example/manifest.json'],
  ])('requests %s %j', (type, options, expected) => {
    const [preset] = readConfig(buildConfig([{ type, instanceId: 'x', options }])).presets;
    const address = preset && getManifestUrl(preset);
    if (expected instanceof RegExp) {
      const settings = expected.exec(address ?? '')?.[1] ?? '';
      expect(JSON.stringify(JSON.parse(Buffer.from(settings, 'base64').toString()))).not.toMatch(/apiKey":"[^"]/i);
    } else expect(address).toBe(expected);
  });
});

describe('options of a list', () => {
  let host: TestHost;
  let up: FakeAddon;
  beforeAll(async () => {
    host = await openAddonsHost();
    up = await openFakeAddon({
      streams: [
        web('A.2019.CAM.mkv'),
        web('B.2019.1080p.WEB-DL.x264-GOOD.mkv'),
        web('C.2019.2160p.WEB-DL.x265-BEST.mkv'),
        { infoHash: 'a'.repeat(40), title: 'D.2019.1080p.mkv' },
      ],
    });
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await up[Symbol.asyncDispose]();
  });
  const listed = async (overrides: object): Promise<any[]> => {
    const { base } = await makeUser(host, buildConfig([customPreset('u', 'Up', up.manifestUrl)], overrides));
    return await fetchStreams(base);
  };
  const letter = ({ behaviorHints }: any): string => behaviorHints.filename[0];

  it('sorts by the scores of all ranked patterns, which formats can show', async () => {
    const streams = await listed({
      rankedRegexPatterns: [
        { name: 'Web', pattern: 'web-?dl', score: 5 },
        { name: 'New', pattern: '/X265/i', score: 3 },
        { pattern: '\\bcam\\b', score: -20 },
        { pattern: '/WEB/', score: 1 },
      ],
      sortCriteria: { global: [{ key: 'regexScore', direction: 'desc' }] },
      formatter: { id: 'custom', definitions: { custom: { name: '{stream.regexScore}', description: 'x' } } },
    });
    expect(streams.map((stream) => `${letter(stream)}${String(stream.name)}`)).toEqual(['C9', 'B6', 'D', 'A-20']);
  });

  it('reports invalid and slow ranked patterns and lists all streams', async () => {
    const [broken, bomb] = await Promise.all([
      listed({ rankedRegexPatterns: [{ name: 'Odd', pattern: '(', score: 1 }] }),
      listed({
        rankedRegexPatterns: [
          { pattern: '(\\w+\\.?)+\\1+!$', score: 1 },
          { pattern: '^(([A-Za-z0-9.-])+)+!$', score: 1 },
        ],
      }),
    ]);
    expect(broken.slice(0, 4).map(letter)).toEqual(['A', 'B', 'C', 'D']);
    expect(broken.at(-1).description).toBe(m.patternInvalid({ name: 'Odd' }));
    expect(bomb.slice(0, 4).map(letter)).toEqual(['A', 'B', 'C', 'D']);
    expect(bomb.at(-1).description).toBe(m.patternsTooSlow());
  });

  it('adds a download entry for each stream with a file', async () => {
    const streams = await listed({ externalDownloads: true, excludedQualities: ['CAM'] });
    expect(streams.map(({ name, url, externalUrl, infoHash }) => [name, url, externalUrl, infoHash?.length])).toEqual([
      ['Up 1080p', 'http://h.example/x', undefined, undefined],
      ['⬇ Up 1080p', undefined, 'http://h.example/x', undefined],
      ['Up 2160p', 'http://h.example/x', undefined, undefined],
      ['⬇ Up 2160p', undefined, 'http://h.example/x', undefined],
      ['[P2P] Up 1080p', undefined, undefined, 40],
    ]);
  });

  it('explains an empty list if statistics require it', async () => {
    const statistics = { enabled: false, showFilterStatsOnNoStreams: true };
    const [none] = await listed({ statistics, requiredResolutions: ['144p'] });
    expect(none.description).toContain('📌 Required Resolution (4)');
    expect(await listed({ statistics, requiredResolutions: ['2160p'] })).toHaveLength(1);
  });

  it('applies supported parts of a configuration of AIOStreams and reports the others', async () => {
    const presets = [
      customPreset('u', 'Up', up.manifestUrl),
      { type: 'debridio', instanceId: 'd', enabled: true, options: { name: 'Debridio' } },
      { type: 'stremthruStore', instanceId: 's', enabled: true, options: {} },
    ];
    const { base } = await makeUser(host, buildConfig(presets));
    const streams = await fetchStreams(base);
    expect(streams.slice(0, 4).map(letter)).toEqual(['A', 'B', 'C', 'D']);
    expect(streams.slice(4).map(({ description }) => description)).toEqual([m.addonKindUnknown({ name: 'Debridio' })]);
    expect(findUnsupportedFeatures(readConfig(buildConfig(presets)))).toEqual([
      m.presetKindUnknown({ name: 'Debridio' }),
    ]);
  });

  it('lists streams of addons first that older configurations pin', async () => {
    await using last = await openFakeAddon({ streams: [web('Z.2019.mkv')] });
    const presets = [
      customPreset('u', 'Up', up.manifestUrl),
      customPreset('l', 'Last', last.manifestUrl, { forceToTop: true }),
    ];
    const { base, uuid } = await makeUser(host, buildConfig(presets));
    expect(letter((await fetchStreams(base))[0])).toBe('Z');
    const { data } = await getJson(`${host.url('addons')}/api/v1/user`, {
      headers: { authorization: `Basic ${Buffer.from(`${uuid}:golden-pass-1`).toString('base64')}` },
    });
    expect(data.userData.presets[1].options.forceToTop).toBe(true);
  });
});
