import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { mergeParentConfig } from '../../../services/addons/domain/merge-parent.ts';
import { mergeCatalogs } from '../../../services/addons/domain/catalogs.ts';
import { mergeResources, parseManifest } from '../../../services/addons/domain/manifest.ts';
import { buildBingeGroup } from '../../../services/addons/domain/pipeline/output.ts';
import { runPipeline } from '../../../services/addons/domain/pipeline/pipeline.ts';
import { parseTitleRequest } from '../../../services/addons/domain/title-request.ts';
import { readStreams } from '../../../services/addons/domain/read-stream.ts';
import { parseRelease } from '../../../services/addons/domain/release.ts';
import { parseRating } from '../../../services/addons/domain/rating.ts';
import { selectFile } from '../../../services/addons/domain/select-file.ts';
import type { ParsedStream, StreamAddon } from '../../../services/addons/domain/stream.ts';
import { compileTemplate } from '../../../services/addons/domain/format/template.ts';
import { cpuTime } from '../../support/cpu-time.ts';
import { buildConfig } from './rig.ts';

const addon = (index: number, overrides: Partial<StreamAddon> = {}): StreamAddon => ({
  ...{
    instanceId: `a${String(index)}e3b0`,
    presetType: 'custom',
    name: `Addon ${String(index)}`,
    index,
    manifestUrl: '',
  },
  ...{ library: false, formatPassthrough: false, resultPassthrough: false, pinPosition: undefined },
  ...overrides,
});
const read = (items: readonly object[], from = addon(0)): readonly ParsedStream[] =>
  readStreams(items, from, parseRelease).streams;
const web = (filename: string, overrides: object = {}): object => ({
  url: 'http://h.example/x',
  behaviorHints: { filename, ...overrides },
});
const rd = (filename: string, cached = true, overrides: object = {}): object => ({
  name: cached ? '[RD+] X' : '[RD download] X',
  ...web(filename, overrides),
});
const run = (streams: readonly ParsedStream[], overrides: object, titleRequest = parseTitleRequest('movie', 'tt1')) =>
  runPipeline(streams, { config: readConfig(buildConfig([], overrides)), titleRequest, patterns: undefined });
const files = (streams: readonly ParsedStream[]): (string | undefined)[] => streams.map(({ filename }) => filename);
const removals = (
  streams: readonly ParsedStream[],
  overrides: object,
  titleRequest = parseTitleRequest('movie', 'tt1'),
): string[] =>
  run(streams, overrides, titleRequest).hidden.map(
    ({ stream, removal }) => `${String(stream.filename)}: ${String(removal?.rule)} ${String(removal?.value)}`,
  );

describe('readStreams', () => {
  it.each([
    ['[RD+] Torrentio\n4k', { id: 'realdebrid', cached: true }],
    ['[AD download] Torrentio', { id: 'alldebrid', cached: false }],
    ['Comet [TB⚡] 1080p', { id: 'torbox', cached: true }],
    ['[PM⏳] X', { id: 'premiumize', cached: false }],
    ['MediaFusion | Real-Debrid ⚡', { id: 'realdebrid', cached: true }],
    ['X (Instant DL) (1080p)', { id: 'debridlink', cached: true }],
    ['The DL of 2019 EN', undefined],
  ])('detects the service of %j', (name, service) => {
    expect(read([{ ...web('A.2019.1080p.mkv'), name }])[0]?.service).toEqual(service);
  });

  it('omits items that are not streams, and nulls', () => {
    const items = [
      null,
      1,
      [],
      {},
      { url: 'not a url' },
      { url: null, infoHash: 'zz' },
      { url: 'http://h.example/a.m3u8', fileIdx: null, subtitles: null, behaviorHints: null },
    ];
    const { streams, invalid } = readStreams(items, addon(0), parseRelease);
    expect([streams.map(({ type }) => type), invalid]).toEqual([['live'], 6]);
    expect(streams[0]?.upstream).toEqual({ url: 'http://h.example/a.m3u8' });
  });

  it('converts magnet links to torrents, and finds hashes in addresses', () => {
    const hash = 'ABCDEF0123456789abcdef0123456789abcdef01';
    expect(read([{ url: `magnet:?xt=urn:btih:${hash}&dn=x` }])[0]).toMatchObject({
      type: 'p2p',
      infoHash: hash.toLowerCase(),
      url: undefined,
    });
    expect(read([{ url: `https://h.example/resolve/${hash}/1/x.mkv` }])[0]).toMatchObject({
      type: 'http',
      infoHash: hash.toLowerCase(),
    });
  });

  it('reads error messages of an addon about its key', () => {
    expect(
      readStreams(
        [{ name: 'Up', title: 'Invalid RealDebrid ApiKey/Token!', url: 'http://h.example/v.mp4' }],
        addon(0),
        parseRelease,
      ).errorMessage,
    ).toContain('Invalid RealDebrid');
  });

  it('does not allow a stream to change its type', () => {
    const item = JSON.parse(
      '{"url":"http://h.example/x","__proto__":{"polluted":1},"behaviorHints":{"__proto__":{"polluted":1}}}',
    ) as object;
    const [stream] = read([item]);
    expect([Object.keys(stream?.upstream ?? {}), Object.keys(stream?.hints ?? {})]).toEqual([
      ['url', 'behaviorHints'],
      [],
    ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('filters', () => {
  const streams = read([
    web('A.2019.2160p.BluRay.REMUX.DV.HDR10.TrueHD.7.1.Atmos.HEVC-ONE.mkv', { videoSize: 60e9 }),
    web('A.2019.1080p.WEB-DL.DDP5.1.H.264-TWO.mkv', { videoSize: 4e9 }),
    web('A.2019.HDTV.x264-THREE.mkv', { videoSize: 1e9 }),
  ]);
  const [one, two, three] = files(streams);

  it.each([
    [{ excludedResolutions: ['1080p'] }, `${String(two)}: Excluded Resolution 1080p`],
    [{ excludedResolutions: ['Unknown'] }, `${String(three)}: Excluded Resolution Unknown`],
    [{ excludedVisualTags: ['HDR+DV'] }, `${String(one)}: Excluded Visual Tag HDR+DV`],
    [{ excludedAudioTags: ['dd+'] }, `${String(two)}: Excluded Audio Tag DD+`],
    [{ excludedAudioChannels: ['7.1'] }, `${String(one)}: Excluded Audio Channel 7.1`],
    [{ excludedEncodes: ['HEVC'] }, `${String(one)}: Excluded Encode HEVC`],
    [{ excludedReleaseGroups: ['three'] }, `${String(three)}: Excluded Release Group THREE`],
    [{ excludedKeywords: ['web dl'] }, `${String(two)}: Excluded Keyword web dl`],
    [{ size: { global: { movies: [0, 50e9] } } }, `${String(one)}: Size Limit too large`],
    [{ size: { resolution: { '1080p': { movies: [5e9, 9e9] } } } }, `${String(two)}: Size Limit too small`],
  ])('applies %j', (overrides, removal) => {
    expect(removals(streams, overrides)).toEqual([removal]);
  });

  it('requires required values, and passes all filters for included values', () => {
    expect(files(run(streams, { requiredQualities: ['BluRay REMUX'] }).visible)).toEqual([one]);
    expect(
      files(run(streams, { requiredQualities: ['BluRay REMUX'], includedReleaseGroups: ['THREE'] }).visible),
    ).toEqual([one, three]);
  });

  it('detects languages by names and flags, and treats others as unknown', () => {
    const streamsByLanguage = read([
      { ...web('A.2019.1080p.ITA.ENG.mkv'), description: 'x' },
      { ...web('B.2019.1080p.mkv'), description: 'x\n🇫🇷' },
      web('C.2019.1080p.mkv'),
    ]);
    expect(files(run(streamsByLanguage, { requiredLanguages: ['French', 'Unknown'] }).visible)).toEqual([
      'B.2019.1080p.mkv',
      'C.2019.1080p.mkv',
    ]);
  });

  it('filters by availability, service and addon', () => {
    const mixed = [...read([rd('A.mkv'), rd('B.mkv', false)]), ...read([rd('C.mkv', false)], addon(1))];
    expect(files(run(mixed, { excludeUncached: true }).visible)).toEqual(['A.mkv']);
    expect(files(run(mixed, { excludeUncachedFromAddons: ['a1'] }).visible)).toEqual(['A.mkv', 'B.mkv']);
    expect(
      files(
        run(mixed, {
          excludeUncachedFromAddons: ['a1'],
          excludeUncachedFromServices: ['torbox'],
          excludeUncachedMode: 'and',
        }).visible,
      ),
    ).toHaveLength(3);
  });

  it('filters by title, year, season and episode', () => {
    const episodes = read([
      web('Show.S01E02.1080p.mkv'),
      web('Show.S01.1080p.mkv'),
      web('Show.S02E02.1080p.mkv'),
      web('Other.Show.S01E02.mkv'),
    ]);
    const titleRequest = { ...parseTitleRequest('series', 'tt1:1:2'), titles: ['Show!'] };
    const visible = run(
      episodes,
      { titleMatching: { enabled: true }, seasonEpisodeMatching: { enabled: true } },
      titleRequest,
    ).visible;
    expect(files(visible)).toEqual(['Show.S01E02.1080p.mkv', 'Show.S01.1080p.mkv']);
    const years = read([web('A.2019.mkv'), web('A.2023.mkv')]);
    expect(
      files(
        run(
          years,
          { yearMatching: { enabled: true, tolerance: 1 } },
          { ...parseTitleRequest('movie', 'tt1'), year: 2020 },
        ).visible,
      ),
    ).toEqual(['A.2019.mkv']);
    expect(files(run(episodes, { excludeSeasonPacks: true }, titleRequest).visible)).not.toContain(
      'Show.S01.1080p.mkv',
    );
  });
});

describe('duplicates', () => {
  it('removes streams that share a name or a hash directly or through another stream, and keeps the cached one', () => {
    const hash = 'a'.repeat(40);
    const streams = [
      ...read([rd('The.Film.2019.mkv', false)]),
      ...read([{ infoHash: hash, behaviorHints: { filename: 'the film 2019.mp4' } }], addon(1)),
      ...read([{ ...rd('Another name 2019.mkv'), infoHash: hash }], addon(2)),
      ...read([web('Alone.2019.mkv')], addon(3)),
    ];
    const { visible } = run(streams, { deduplicator: { enabled: true } });
    expect(files(visible)).toEqual(['Another name 2019.mkv', 'Alone.2019.mkv']);
    expect(run(streams, { deduplicator: { enabled: true, multiGroupBehaviour: 'keep_all' } }).visible).toHaveLength(4);
    expect(run(streams, {}).visible).toHaveLength(4);
  });

  it('keeps the stream of the first service, and streams of excluded addons', () => {
    const streams = [...read([{ ...rd('A.mkv'), name: '[TB+] X' }]), ...read([rd('A.mkv')], addon(1))];
    const services = [{ id: 'realdebrid' }, { id: 'torbox' }];
    const options = { enabled: true, cached: 'single_result' };
    expect(run(streams, { services, deduplicator: options }).visible.map(({ service }) => service?.id)).toEqual([
      'realdebrid',
    ]);
    expect(run(streams, { services, deduplicator: { ...options, excludeAddons: ['a0'] } }).visible).toHaveLength(2);
  });
});

describe('order and limits', () => {
  const streams = read([
    web('A.2019.720p.mkv', { videoSize: 2e9 }),
    web('B.2019.2160p.mkv', { videoSize: 9e9 }),
    web('C.2019.1080p.mkv', { videoSize: 9e9 }),
    web('D.2019.1080p.mkv'),
  ]);
  const order = (overrides: object): string =>
    run(streams, overrides)
      .visible.map(({ filename }) => filename?.[0])
      .join('');

  it.each([
    ['ABCD', { sortCriteria: { global: [] } }],
    ['BCAD', { sortCriteria: { global: [{ key: 'size', direction: 'desc' }] } }],
    ['DABC', { sortCriteria: { global: [{ key: 'size', direction: 'asc' }] } }],
    [
      'CDBA',
      {
        sortCriteria: { global: [{ key: 'resolution', direction: 'desc' }] },
        preferredResolutions: ['1080p', '2160p'],
      },
    ],
    [
      'ABCD',
      {
        sortCriteria: {
          global: [
            { key: 'resolution', direction: 'desc' },
            { key: 'no such thing', direction: 'asc' },
          ],
        },
      },
    ],
    [
      'ACB',
      {
        resultLimits: { resolution: 1 },
        sortCriteria: { global: [], movies: [{ key: 'seeders', direction: 'desc' }] },
      },
    ],
    ['BC', { resultLimits: { global: 2 }, sortCriteria: { global: [{ key: 'size', direction: 'desc' }] } }],
  ])('sorts by %s for %j', (expectedOrder, overrides) => {
    expect([...order(overrides)].toSorted().join('')).toBe([...expectedOrder].toSorted().join(''));
    if (!('resultLimits' in overrides) || expectedOrder === 'BC') expect(order(overrides)).toBe(expectedOrder);
  });

  it('sorts available streams first when both lists exist, and pinned addons at the ends', () => {
    const mixed = [
      ...read([rd('U.mkv', false), rd('C.mkv')]),
      ...read([web('P.mkv')], addon(1, { pinPosition: 'bottom' })),
    ];
    expect(
      files(run(mixed, { sortCriteria: { global: [], uncached: [{ key: 'size', direction: 'desc' }] } }).visible),
    ).toEqual(['C.mkv', 'U.mkv', 'P.mkv']);
  });

  it('builds the same binge group for the next episode', () => {
    const config = readConfig(buildConfig([]));
    const [first, second] = read([
      web('Show.S01E01.1080p.WEB-DL.x264-GRP.mkv'),
      web('Show.S01E02.1080p.WEB-DL.x264-GRP.mkv'),
    ]);
    if (first === undefined || second === undefined) throw new Error('not read');
    expect(buildBingeGroup(first, { config, addonId: 'x' })).toBe('x|1080p|WEB-DL|GRP');
    expect(buildBingeGroup(second, { config, addonId: 'x' })).toBe('x|1080p|WEB-DL|GRP');
  });
});

describe('templates', () => {
  const [stream] = read([{ ...rd('The.Movie.2019.2160p.DV.TrueHD.Atmos-GRP.mkv'), description: 'x\n👤 12' }]);
  it.each([
    ['{stream.title::upper} {stream.year}', 'THE MOVIE 2019'],
    ["{stream.audioTags::join(' + ')::lower}", 'atmos + truehd'],
    ['{service.cached::istrue["yes"||"no"]}', 'yes'],
    ['{stream.seeders::>=10["many"||"few"]}', 'many'],
    ['{stream.size::exists["big"||"unknown"]}', 'unknown'],
    ['{stream.age::>5["old"||"new"||"unknown"]}', 'new'],
    ['{stream.age["known"||"no"||"unknown"]}', 'unknown'],
    ['{stream.title::=the movie::and::stream.year::=2019["both"||"not"]}', 'both'],
    ['{stream.title::~movie::and::stream.year::=2018::or::service.id::exists["x"||"y"]}', 'x'],
    ['{?size {stream.size} bytes?}{?by {stream.releaseGroup}?}', 'by GRP'],
    ['{stream.nothing}{no.field} {', '{no.field} {'],
    ['a\\n{stream.size}\\nb{tools.newLine}c', 'a\nb\nc'],
    ['keep\\nthis {tools.removeLine}not', 'keep'],
    ["{stream.title::replace('The ', 'A ')::truncate(4)}", 'A Mo…'],
    ['{service.cached::istrue["{stream.title::exists["in {stream.year}"||""]}"||""]}', 'in 2019'],
    ['{stream.title::upper::nothing()}', 'THE MOVIE'],
  ])('renders %j', (template, text) => {
    if (stream === undefined) throw new Error('not read');
    expect(compileTemplate(template)({ stream, addonName: 'A' })).toBe(text);
  });

  it('stops hostile templates', () => {
    if (stream === undefined) throw new Error('not read');
    for (const template of [
      '{'.repeat(5000),
      '{?'.repeat(2500),
      '{stream.title::exists["'.repeat(200),
      `{stream.title${'::reverse'.repeat(500)}}`,
    ]) {
      const startedAt = cpuTime();
      compileTemplate(template)({ stream, addonName: 'A' });
      expect(cpuTime() - startedAt).toBeLessThan(2000);
    }
  });
});

describe('selectFile', () => {
  const file = (path: string, size: number, index?: number) => ({ path, size, index });
  const season = [
    file('Show S01/Show.S01E01.mkv', 9, 0),
    file('Show S01/Show.S01E02.mkv', 5, 1),
    file('Show S01/extras/Trailer.mkv', 99, 2),
    file('a.nfo', 1, 3),
  ];
  const fileRequest = { index: undefined, filename: undefined, season: undefined, episode: undefined };
  it.each([
    [{ season: 1, episode: 2 }, 'Show S01/Show.S01E02.mkv'],
    [{ index: 0 }, 'Show S01/Show.S01E01.mkv'],
    [{ filename: 'show.s01e01.mkv', episode: 2, season: 1 }, 'Show S01/Show.S01E01.mkv'],
    [{ index: 0, season: 1, episode: 2 }, 'Show S01/Show.S01E02.mkv'],
    [{}, 'Show S01/Show.S01E01.mkv'],
    [{ season: 1, episode: 9 }, undefined],
    [{ season: 2, episode: 1 }, undefined],
  ])('selects %j', (overrides, path) => {
    expect(selectFile(season, { ...fileRequest, ...overrides })?.path).toBe(path);
  });
});

describe('manifests', () => {
  const manifest = (overrides: object) =>
    parseManifest({ id: 'x', name: 'X', types: ['movie'], resources: ['stream'], ...overrides });
  it('are merged: all types, and prefixes only if all addons list some', () => {
    const [one, two, three] = [
      manifest({ idPrefixes: ['tt'] }),
      manifest({ idPrefixes: ['tt', 'kitsu'], types: ['series'] }),
      manifest({}),
    ];
    const sources = (list: (typeof one)[]) =>
      list.flatMap((entry) => (entry === undefined ? [] : [{ instanceId: 'a', manifest: entry }]));
    expect(mergeResources(sources([one, two]))).toEqual([
      { name: 'stream', types: ['movie', 'series'], idPrefixes: ['tt', 'kitsu'] },
    ]);
    expect(mergeResources(sources([one, two, three]))).toEqual([{ name: 'stream', types: ['movie', 'series'] }]);
  });

  it('renames, hides, moves and restricts catalogs', () => {
    const source = manifest({
      catalogs: [
        { id: 'a', type: 'movie', name: 'A' },
        { id: 'b', type: 'movie', extraSupported: ['search'] },
        { id: 'c', type: 'movie' },
      ],
    });
    if (source === undefined) throw new Error('not read');
    const merged = mergeCatalogs(
      [{ instanceId: 'i', manifest: source }],
      [
        { id: 'i.b', type: 'movie', onlyOnSearch: true, name: 'Bee' },
        { id: 'i.a', type: 'movie', enabled: false },
      ],
    );
    expect(merged).toEqual([
      { id: 'i.b', type: 'movie', name: 'Bee', extra: [{ name: 'search', isRequired: true }] },
      { id: 'i.c', type: 'movie' },
    ]);
  });
});

describe('configurations', () => {
  it('inherits section by section', () => {
    const parent = readConfig(
      buildConfig([{ type: 'custom', instanceId: 'p' }], {
        excludedQualities: ['CAM'],
        addonName: 'Parent',
        extraMember: 1,
      }),
    );
    const child = (mergeStrategies: object) =>
      readConfig(
        buildConfig([{ type: 'custom', instanceId: 'c' }], {
          addonName: 'Child',
          parentConfig: { uuid: 'u', password: 'p', mergeStrategies },
        }),
      );
    const ids = (strategies: object): string[] =>
      mergeParentConfig(parent, child(strategies)).presets.map(({ instanceId }) => instanceId);
    expect([ids({}), ids({ presets: 'inherit' }), ids({ presets: 'extend' }), ids({ presets: 'override' })]).toEqual([
      ['c'],
      ['p'],
      ['c', 'p'],
      ['c'],
    ]);
    expect(mergeParentConfig(parent, child({}))).toMatchObject({
      addonName: 'Child',
      excludedQualities: ['CAM'],
      extraMember: 1,
    });
  });

  it('preserves unknown fields', () => {
    const config = buildConfig([], {
      somethingNew: { a: [1] },
      presets: [{ type: 'x', instanceId: 'i', extra: 1, options: { other: 2 } }],
    });
    expect(readConfig(config)).toMatchObject(config);
  });
});

describe('subtitles', () => {
  it.each([
    [{ ...web('A.2019.1080p.VOSTFR.mkv') }, ['French']],
    [{ ...web('A.2019.1080p.SUBS.ENG.FRE.mkv') }, ['English', 'French']],
    [{ ...web('A.2019.1080p.ITA.Sub.EN.mkv') }, ['English']],
    [{ ...web('A.2019.1080p.KorSub.x264.mkv') }, ['Korean']],
    [{ ...web('A.2019.1080p.HIN.x264.ESub.mkv') }, ['English']],
    [{ ...web('A.2019.1080p.Multi-Subs.mkv') }, ['Multi']],
    [{ ...web('Submarine.2010.1080p.mkv') }, []],
    [{ ...web('Sub.Zero.2010.1080p.mkv') }, []],
    [
      { ...web('A.2019.mkv'), subtitles: [{ id: '1', lang: 'ger', url: 'u' }, null, { lang: 'pt-BR' }] },
      ['German', 'Portuguese (Brazil)'],
    ],
    [{ ...web('A.2019.mkv'), description: 'x\n💬 🇫🇷 🇩🇪' }, ['French', 'German']],
  ])('are detected: %j', (item, languages) => {
    expect(read([item])[0]?.file.subtitles).toEqual(languages);
  });

  it('are filtered and sorted', () => {
    const streams = read([web('A.2019.mkv'), web('B.2019.SUBS.ENG.mkv'), web('C.2019.VOSTFR.mkv')]);
    expect(removals(streams, { excludedSubtitles: ['Unknown'] })).toEqual(['A.2019.mkv: Excluded Subtitle Unknown']);
    expect(files(run(streams, { requiredSubtitles: ['French'] }).visible)).toEqual(['C.2019.VOSTFR.mkv']);
    const sortCriteria = { global: [{ key: 'subtitle', direction: 'desc' }] };
    expect(files(run(streams, { sortCriteria, preferredSubtitles: ['French', 'English'] }).visible)).toEqual([
      'C.2019.VOSTFR.mkv',
      'B.2019.SUBS.ENG.mkv',
      'A.2019.mkv',
    ]);
  });
});

describe('age ratings', () => {
  const streams = read([web('A.2019.1080p.mkv')]);
  const createTitleRequest = (meta: object) => ({ ...parseTitleRequest('movie', 'tt1'), rating: parseRating(meta) });
  it.each([
    [{ certification: 'R' }, { excludedCertifications: ['r'] }, 'Excluded Certification R'],
    [{ app_extras: { certification: 'PG-13' } }, { excludedCertifications: ['R'] }, undefined],
    [
      { app_extras: { certification: 'PG-13' } },
      { requiredCertifications: ['G', 'PG'] },
      'Required Certification PG-13',
    ],
    [{ parent_guide_certificates: ['16', 'R'] }, { excludedCertifications: ['R'] }, 'Excluded Certification R'],
    [{}, { requiredCertifications: ['PG'] }, 'Required Certification Unknown'],
    [{}, { requiredCertifications: ['PG', 'Unknown'] }, undefined],
    [{}, { excludedCertifications: ['R'] }, undefined],
    [{ parent_guide_nudity_status: 'Severe' }, { excludeNudity: ['severe'] }, 'Excluded Nudity severe'],
    [{ parentsGuide: { nudity: 'mild' } }, { excludeNudity: ['severe'] }, undefined],
    [{ certification: 5, parentsGuide: [], app_extras: null }, { excludedCertifications: ['R'] }, undefined],
  ])('hides %j with %j', (meta, overrides, reason) => {
    const [hidden] = run(streams, { ...overrides, includedResolutions: ['1080p'] }, createTitleRequest(meta)).hidden;
    expect(hidden && `${String(hidden.removal?.rule)} ${String(hidden.removal?.value)}`).toBe(reason);
  });
});
