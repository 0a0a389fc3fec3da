import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import stremio from 'stremio-addon-client';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { findUnsupportedFeatures } from '../../../services/addons/domain/unsupported-features.ts';
import { applyVariants } from '../../../services/addons/domain/variants/variants.ts';
import type { TestHost } from '../../support/host.ts';
import { alphaStreams, openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost, password, fetchStreams } from './rig.ts';

const base = buildConfig(
  [
    { type: 'torrentio', instanceId: 't1', options: { name: 'Torrentio 4K', timeout: 5000 } },
    { type: 'comet', instanceId: 'c1', options: { name: 'Comet' } },
  ],
  {
    services: [
      { id: 'realdebrid', enabled: true, credentials: { apiKey: 'ONE' } },
      { id: 'torbox', enabled: true, credentials: { apiKey: 'TWO' } },
    ],
    excludedKeywords: ['CAM', 'hdcam', 'ok'],
    resultLimits: { global: 50 },
    excludedStreamExpressions: [{ expression: '/* Few */ seeders(streams, 0, 1)', enabled: true }],
  },
);
const varied = (script: string, overrides: object[] = []): any =>
  applyVariants(readConfig({ ...base, variants: [{ id: 'v', script }, ...overrides] }), 'v');

describe('scripts of variants', () => {
  it.each<[string, string, (config: any) => unknown, unknown]>([
    ['set', 'set addonName = "Phone"', (config) => config.addonName, 'Phone'],
    ['a comment', '# nothing\nset addonName = "a # b" # the name', (config) => config.addonName, 'a # b'],
    [
      'set with missing objects',
      'set size.global.movies = [0, 8000000000]',
      (config) => config.size,
      { global: { movies: [0, 8e9] } },
    ],
    [
      'several lines',
      'set sortCriteria.global = [\n  { "key": "size", "direction": "asc" }\n]',
      (config) => config.sortCriteria.global,
      [{ key: 'size', direction: 'asc' }],
    ],
    ['single quotes and escapes', "set addonName = 'It\\'s \\u0041'", (config) => config.addonName, "It's A"],
    ['merge', 'merge resultLimits = {"addon": 5, "global": null}', (config) => config.resultLimits, { addon: 5 }],
    ['unset', 'unset resultLimits.global', (config) => config.resultLimits, {}],
    [
      'unset an element',
      'unset presets[0]',
      (config) => config.presets.map(({ instanceId }: any) => instanceId),
      ['c1'],
    ],
    ['clear', 'clear excludedKeywords', (config) => config.excludedKeywords, []],
    ['add', 'add excludedKeywords "CAM", "TS"', (config) => config.excludedKeywords, ['CAM', 'hdcam', 'ok', 'TS']],
    ['add without a list', 'add excludedVisualTags "DV Only"', (config) => config.excludedVisualTags, ['DV Only']],
    ['prepend', 'prepend excludedKeywords "first"', (config) => config.excludedKeywords[0], 'first'],
    ['remove', 'remove excludedKeywords "CAM"', (config) => config.excludedKeywords, ['hdcam', 'ok']],
    ['remove by a part of the text', 'remove excludedKeywords[*="cam"]', (config) => config.excludedKeywords, ['ok']],
    [
      'remove by the complete text',
      'remove excludedKeywords[="CAM"]',
      (config) => config.excludedKeywords,
      ['hdcam', 'ok'],
    ],
    [
      'disable by type',
      'disable presets[type=torrentio]',
      (config) => config.presets.map(({ enabled }: any) => enabled),
      [false, true],
    ],
    [
      'disable by a part of the name',
      'disable presets[options.name*="4k"]',
      (config) => config.presets[0].enabled,
      false,
    ],
    [
      'disable all others',
      'disable presets[type!=comet]',
      (config) => config.presets.map(({ enabled }: any) => enabled),
      [false, true],
    ],
    [
      'set for all items',
      'set presets[*].options.timeout = 2000',
      (config) => config.presets.map(({ options }: any) => options.timeout),
      [2000, 2000],
    ],
    ['set from the end', 'set presets[-1].options.name = "Last"', (config) => config.presets[1].options.name, 'Last'],
    [
      'a credential',
      'set services[id=realdebrid].credentials.apiKey = "OTHER"',
      (config) => config.services[0].credentials.apiKey,
      'OTHER',
    ],
    [
      'disable by the text of an expression',
      'disable excludedStreamExpressions[expression*="few"]',
      (config) => config.excludedStreamExpressions[0].enabled,
      false,
    ],
    ['enable with a missing object', 'enable deduplicator', (config) => config.deduplicator.enabled, true],
    ['disable without a match', 'disable presets[type=none]', (config) => config.presets[0].enabled, true],
  ])('applies %s', (_case, script, part, expected) => {
    expect(part(varied(script))).toEqual(expected);
  });

  it.each<[string, string, object[], RegExp]>([
    [
      'instructions that multiply from variant to variant',
      'use variant a\n'.repeat(200),
      ['a', 'b', 'c', 'd'].map((id, index) => ({
        id,
        script: index === 3 ? 'set addonName = "X"' : `use variant ${'bcd'[index]!}\n`.repeat(200),
      })),
      /too many instructions/,
    ],
    [
      'locations that multiply',
      ['set x', 'set x[*]', 'set x[*][*]'].map((to) => `${to} = [${'0,'.repeat(999)}0]`).join('\n'),
      [],
      /writes too many values/,
    ],
    [
      'long texts at many locations',
      `set x = [${'0,'.repeat(999)}0]\nset x[*] = "${'a'.repeat(10_000)}"`,
      [],
      /writes too many values/,
    ],
    [
      'searches of long lists',
      `set x = [${'0,'.repeat(2999)}0]\n${'remove x[=1]\n'.repeat(450)}`,
      [],
      /searches too many items/,
    ],
  ])('ends %s', (_case, script, overrides, expectedMessage) => {
    expect(() => varied(script, overrides)).toThrow(expectedMessage);
  });

  it('allows a variant to use another one without cycles', () => {
    expect(
      varied('use variant small', [{ id: 'small', script: 'set resultLimits.global = 3' }]).resultLimits.global,
    ).toBe(3);
    expect(() => varied('use variant v')).toThrow(m.variantsCircular());
  });

  it.each([
    ['set uuid = "x"', m.fieldNotChangeable({ name: 'uuid' })],
    ['set __proto__.polluted = 1', m.fieldNotChangeable({ name: '__proto__' })],
    ['set a.constructor.prototype.polluted = 1', m.fieldNotChangeable({ name: 'constructor' })],
    ['set size = {"__proto__": {"polluted": 1}}', 'isn’t valid.'],
    ['unset variants', m.fieldNotChangeable({ name: 'variants' })],
    ['explode presets', m.instructionInvalid({ text: 'explode presets' })],
    ['set addonName', m.valueMissing()],
    ['set = 1', m.pathRequired({ verb: 'set' })],
    ['set addonName = nothing', 'isn’t valid.'],
    ['set addonName = "never closed', 'isn’t valid.'],
    [`set x = ${'['.repeat(50)}`, m.valueNested()],
    ['set presets = 5', 'presets: '],
    ['use variant nobody', m.variantNotFound({ id: 'nobody' })],
  ])('reports %s', (script, expectedMessage) => {
    expect(() => varied(script)).toThrow(expectedMessage);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('variants of an installed configuration', () => {
  let host: TestHost;
  let up: FakeAddon;
  beforeAll(async () => {
    up = await openFakeAddon({ streams: alphaStreams });
    host = await openAddonsHost();
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await up[Symbol.asyncDispose]();
  });

  it('are selected by path or query, each as a separate addon', async () => {
    const config = buildConfig([customPreset('a', 'Alpha', up.manifestUrl)], {
      addonName: 'Mine',
      variants: [
        { id: 'phone', script: 'set addonName = "Phone"\nset resultLimits.global = 1' },
        { id: 'named', name: 'Named', script: 'set addonName = "Named"' },
        { id: 'off', enabled: false, script: '' },
        { id: 'broken', script: 'set' },
      ],
    });
    const profile = await makeUser(host, config);
    const baseManifest = await getJson(profile.manifestUrl);
    const { addon } = await stremio.detectFromURL(`${profile.base}/v/phone/manifest.json`);
    expect([baseManifest.name, addon.manifest.name]).toEqual(['Mine', 'Phone']);
    expect(addon.manifest.id).toBe(`${String(baseManifest.id)}.phone`);
    expect((await addon.get('stream', 'movie', 'tt0111161')).streams).toHaveLength(1);
    expect(await fetchStreams(profile.base)).toHaveLength(alphaStreams.length);
    expect((await getJson(`${profile.manifestUrl}?v=phone`)).name).toBe('Phone');
    expect((await getJson(`${profile.base}/v/phone,named/manifest.json`)).name).toBe('Named');
    expect((await getJson(`${profile.base}/stream/movie/tt1.json?v=phone`)).streams).toHaveLength(1);
    const searchResult = await getJson(`${host.url('addons')}/api/v1/search?type=movie&id=tt1&v=phone`, {
      headers: { authorization: `Basic ${Buffer.from(`${profile.uuid}:${password}`).toString('base64')}` },
    });
    expect(searchResult.data.results).toHaveLength(1);
    for (const [id, expectedMessage] of [
      ['nobody', m.variantNotFound({ id: 'nobody' })],
      ['off', m.variantNotFound({ id: 'off' })],
      ['broken', m.variantInvalid({ id: 'broken', problem: m.pathRequired({ verb: 'set' }) })],
    ] as const) {
      const [item] = await fetchStreams(`${profile.base}/v/${id}`);
      expect(item.description).toBe(expectedMessage);
      const manifest = await fetch(`${profile.base}/v/${id}/manifest.json`);
      expect([manifest.status, (await manifest.json()).error.message]).toEqual([400, expectedMessage]);
    }
  });
});

describe('parts of a configuration without effect', () => {
  it('are reported, and other parts are not', () => {
    expect(findUnsupportedFeatures(readConfig(base))).toEqual([]);
    const notes = findUnsupportedFeatures(
      readConfig({
        ...base,
        services: [
          { id: 'seedr', credentials: {} },
          { id: 'offcloud', enabled: false, credentials: {} },
        ],
        areYouStillThere: { enabled: true },
        failover: { enabled: false },
        rpdbApiKey: 'x',
        usePosterRedirectApi: true,
        syncedPreferredRegexUrls: ['https://x.example/list.json'],
        syncedExcludedRegexUrls: [],
        sortCriteria: { global: [{ key: 'size' }, { key: 'luck' }] },
        proxy: { enabled: true, id: 'stremthru' },
        groups: {
          enabled: true,
          groupings: [
            { addons: [], condition: 'true' },
            { addons: [], condition: 'count(' },
          ],
        },
        excludedStreamExpressions: ['(('],
        variants: [
          { id: 'v', script: 'explode' },
          { id: 'w', script: '', condition: 'true' },
        ],
      }),
    );
    expect(notes).toEqual([
      m.featureStillThere(),
      m.featurePosterRedirect(),
      m.featureSyncedExpressions(),
      m.serviceUnknown({ id: 'seedr' }),
      m.sortCriterionUnknown({ key: 'luck' }),
      m.proxyUnknown({ id: 'stremthru' }),
      m.expressionIgnored({ name: '((', problem: m.expressionIncomplete() }),
      m.groupConditionIgnored({ number: 2, problem: m.expressionIncomplete() }),
      m.variantInvalid({ id: 'v', problem: m.instructionInvalid({ text: 'explode' }) }),
      m.variantConditionIgnored({ id: 'w' }),
    ]);
  });
});
