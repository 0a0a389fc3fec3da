import * as m from '#messages/addons-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { evaluateTemplateCondition } from '../../../services/addons/domain/template-condition.ts';
import { api } from '../../support/api.ts';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { openAddonsHost, password, readJson, fetchStreams } from './rig.ts';

const metadata = (overrides: object = {}): object => {
  return {
    id: 'me.one',
    name: 'One',
    description: 'd',
    author: 'me',
    category: 'Debrid',
    version: '1.0.0',
    ...overrides,
  };
};
const input = (id: string, type: string, value?: unknown, overrides: object = {}): object => {
  return {
    id,
    name: `The ${id}`,
    description: 'd',
    type,
    ...(value === undefined ? {} : { default: value }),
    ...overrides,
  };
};
const inputs = [
  input('notice', 'alert'),
  input('credits', 'socials'),
  input('tier', 'select', 'pro', { options: [{ value: 'pro', label: 'Pro' }] }),
  input('languages', 'multi-select', ['English', 'French']),
  input('hideDv', 'boolean', true),
  input('hideHdr', 'boolean', false),
  input('count', 'number', 0),
  input('logo', 'url', 'https://example.com/logo.png'),
  input('key', 'password', 'hidden'),
  input('name', 'string', undefined, { required: true }),
  { ...input('proxy', 'subsection'), subOptions: [input('url', 'url', 'http://proxy.example'), input('id', 'string')] },
  { ...input('api', 'nab-endpoint'), subOptions: [input('url', 'url', 'https://nab.example/api')] },
];
const template = (config: object, overrides: object = {}): object => ({
  metadata: metadata({ inputs, ...overrides }),
  config,
});

describe('evaluateTemplateCondition', () => {
  const values = {
    inputs: {
      on: true,
      off: false,
      zero: 0,
      none: [],
      list: ['a b', 'c'],
      text: 'rock and roll',
      proxy: { url: 'x' },
      n: 5,
    },
    services: ['torbox'],
  };
  it.each<[string, boolean]>([
    ['inputs.on', true],
    ['!inputs.on', false],
    ['inputs.off', false],
    ['inputs.zero', true],
    ['inputs.none', false],
    ['inputs.missing', false],
    ['inputs.proxy.url', true],
    ['inputs.proxy.id', false],
    ['inputs.text == rock and roll', true],
    ['inputs.text != rock', true],
    ['inputs.missing == ', false],
    ['inputs.list includes a b', true],
    ['inputs.list includes a', false],
    ['inputs.text includes roll', true],
    ['inputs.n > 4', true],
    ['inputs.n >= 5', true],
    ['inputs.n < 5', false],
    ['inputs.n <= 4.5', false],
    ['inputs.missing > 0', false],
    ['services', true],
    ['!services', false],
    ['services.torbox', true],
    ['services.realdebrid', false],
    ['inputs.off and inputs.on or services.torbox', true],
    ['inputs.on xor services.torbox', false],
    ['inputs.on xor inputs.off and services.torbox', true],
    ['!inputs.off and !services.realdebrid', true],
  ])('evaluates %s', (condition, expected) => {
    if (condition === 'inputs.missing == ') expect(() => evaluateTemplateCondition(condition, values)).toThrow();
    else expect(evaluateTemplateCondition(condition, values)).toBe(expected);
  });

  it.each(['', 'other.x', 'inputs', 'inputs.n > many', 'a b c', '__proto__.x', 'services.torbox.key'])(
    'rejects %j',
    (condition) => {
      expect(() => evaluateTemplateCondition(condition, values)).toThrow();
    },
  );
});

describe('a template', () => {
  it('fills placeholders with the defaults of its inputs, in their types', () => {
    const config = readConfig(
      template({
        addonLogo: '{{inputs.logo}}',
        addonName: 'Streams {{inputs.tier}} {{inputs.count}} {{inputs.missing}}!',
        preferredLanguages: ['{{inputs.languages}}', 'Original'],
        excludeCached: '{{inputs.hideDv}}',
        proxy: { enabled: true, id: 'builtin', url: '{{inputs.proxy.url}}' },
        presets: [
          {
            type: 'newznab',
            instanceId: 'a',
            options: { url: '{{inputs.api.url}}', languages: '{{inputs.languages}}' },
          },
        ],
      }),
    );
    expect(config).toMatchObject({
      addonLogo: 'https://example.com/logo.png',
      addonName: 'Streams pro 0 !',
      preferredLanguages: ['English', 'French', 'Original'],
      excludeCached: true,
      proxy: { url: 'http://proxy.example' },
      presets: [{ options: { url: 'https://nab.example/api', languages: ['English', 'French'] } }],
    });
    const notes = config.importNotes?.join('\n') ?? '';
    expect(notes).toContain(m.templateInputDefault({ label: 'The tier (tier)', value: '"pro"' }));
    expect(notes).toContain(m.templateInputEmpty({ label: 'The name (name)' }));
    expect(notes).toContain('The template has no input missing');
    expect(notes).not.toContain('hidden');
  });

  it('includes the parts whose conditions are true', () => {
    const preset = (instanceId: string, condition?: string): object => {
      return { type: 'custom', instanceId, options: {}, ...(condition === undefined ? {} : { __if: condition }) };
    };
    const config = readConfig(
      template({
        presets: [preset('always'), preset('pro', 'inputs.tier == pro'), preset('free', 'inputs.tier == free')],
        excludedVisualTags: [
          '3D',
          { __if: 'inputs.hideDv', __value: 'DV' },
          { __if: 'inputs.hideHdr', __value: ['HDR', 'HDR10'] },
          { __value: ['AI', 'SDR'] },
        ],
        excludeSeasonPacks: { __if: 'inputs.hideDv', __value: true },
        excludeCached: { __if: 'inputs.hideHdr', __value: true },
        enableSeadex: { __remove: true },
        formatter: {
          __switch: 'inputs.tier',
          cases: { pro: { id: 'gdrive' }, free: { id: 'torrentio' } },
          default: { id: 'prism' },
        },
        preferredStreamTypes: { __switch: 'services', cases: { '': ['p2p'] }, default: ['cached'] },
        excludedStreamExpressions: [
          { __if: 'services.torbox', expression: 'uncached(streams)', enabled: true },
          { __if: '!services.torbox', expression: 'cached(streams)', enabled: true },
        ],
      }),
    );
    expect(config.presets.map(({ instanceId }) => instanceId)).toEqual(['always', 'pro']);
    expect(config.presets[1]).not.toHaveProperty('__if');
    expect(config).toMatchObject({
      excludedVisualTags: ['3D', 'DV', 'AI', 'SDR'],
      excludeSeasonPacks: true,
      formatter: { id: 'gdrive' },
      preferredStreamTypes: ['p2p'],
      excludedStreamExpressions: [{ expression: 'cached(streams)', enabled: true }],
    });
    for (const name of ['excludeCached', 'enableSeadex']) expect(config).not.toHaveProperty(name);
    expect(config.importNotes?.join('\n')).toContain('used without debrid services');
  });

  it('evaluates conditions for the configured services, or for the required ones', () => {
    const types = { __switch: 'services', cases: { '': ['p2p'] }, default: ['cached'] };
    const enabled = readConfig(template({ services: [{ id: 'torbox', enabled: true }], preferredStreamTypes: types }));
    expect(enabled.preferredStreamTypes).toEqual(['cached']);
    const needed = readConfig(
      template(
        { preferredStreamTypes: types, addonName: 'for {{services}}' },
        { services: ['torbox'], serviceRequired: true },
      ),
    );
    expect(needed).toMatchObject({ preferredStreamTypes: ['cached'], addonName: 'for torbox' });
    expect(needed.importNotes?.join('\n')).toContain(m.templateRequiresService({ names: 'torbox' }));
  });

  it('lists missing values and unsupported conditions', () => {
    const config = readConfig(
      template({
        tmdbApiKey: '<optional_template_placeholder>',
        proxy: { enabled: true, url: '<required_template_placeholder>', credentials: '<template_placeholder>' },
        presets: [
          { type: 'torbox', instanceId: 'a', options: { apiKey: '{{services.torbox.apiKey}}' } },
          { __if: 'nonsense', type: 'custom', instanceId: 'b', options: {} },
          { __if: 5, type: 'custom', instanceId: 'c', options: {} },
          { __if: 'inputs.count > many', type: 'custom', instanceId: 'd', options: {} },
        ],
        formatter: { __switch: 'nothing.known', cases: 5, default: { id: 'prism' } },
        sortCriteria: { global: { __value: [{ key: 'size' }] } },
      }),
    );
    expect(config.presets.map(({ instanceId }) => instanceId)).toEqual(['a']);
    expect(config).toMatchObject({
      tmdbApiKey: '',
      formatter: { id: 'prism' },
      sortCriteria: { global: [{ key: 'size' }] },
    });
    const notes = config.importNotes?.join('\n') ?? '';
    for (const path of ['tmdbApiKey', 'proxy.url', 'proxy.credentials', 'presets.0.options.apiKey'])
      expect(notes).toContain(`${path}: enter a value.`);
    for (const path of ['presets.1', 'presets.2', 'presets.3'])
      expect(notes).toContain(`The condition at ${path} isn’t supported`);
    expect(notes).toContain('formatter isn’t supported: “nothing.known” isn’t a reference');
  });

  it('reads a partial template, and the first of several', () => {
    expect(readConfig(template({ formatter: { id: 'prism' } }))).toMatchObject({
      presets: [],
      formatter: { id: 'prism' },
    });
    const several = readConfig([template({ addonName: 'first' }), template({ addonName: 'second' })]);
    expect(several.addonName).toBe('first');
    expect(several.importNotes?.[0]).toBe(m.templateSelected({ count: 2, name: 'One' }));
    expect(readConfig([template({ addonName: 'only' })]).importNotes?.join('\n')).not.toContain('templates.');
  });

  it('is resolved from a copied configuration', () => {
    const config = readConfig({
      presets: [{ type: 'custom', instanceId: 'a', options: {}, __if: '!services' }],
      addonName: '{{inputs.name}}',
      tmdbApiKey: '<template_placeholder>',
    });
    expect(config).toMatchObject({ presets: [{ instanceId: 'a' }], addonName: '', tmdbApiKey: '' });
  });

  it('never reads members of the prototype, and limits the number of notes', () => {
    const hostile = JSON.parse(
      '{"metadata":{"inputs":[{"id":"__proto__","default":{"polluted":1}},{"id":"a",' +
        '"type":"subsection","subOptions":[{"id":"constructor","default":1}]}]},' +
        '"config":{"addonName":"{{inputs.__proto__.polluted}}{{inputs.a.constructor}}","presets":[]}}',
    );
    expect(readConfig(hostile).addonName).toBe('');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const many = Array.from({ length: 5000 }, (_, index) => ({ __if: `nonsense${String(index)}`, type: 'custom' }));
    expect(readConfig(template({ presets: many })).importNotes?.length).toBeLessThan(110);
  });
});

describe('members of older configurations', () => {
  const read = (config: object): any => readConfig({ presets: [], sortCriteria: { global: [] }, ...config });
  it.each<[string, object, object]>([
    [
      'duplicate removal',
      { deduplicator: { multiGroupBehaviour: 'remove_nothing' } },
      { deduplicator: { multiGroupBehaviour: 'keep_all' } },
    ],
    [
      'a list of groups',
      { groups: [{ addons: ['a'], condition: 'true' }] },
      { groups: { enabled: true, behaviour: 'parallel', groupings: [{ addons: ['a'] }] } },
    ],
    ['disabled groups', { groups: [], disableGroups: true }, { groups: { enabled: false } }],
    [
      'statistics',
      { showStatistics: true, statisticsPosition: 'top' },
      { statistics: { enabled: true, position: 'top' } },
    ],
    ['statistics that are off', { showStatistics: false }, { statistics: { enabled: false } }],
    [
      '3D formats among encodes',
      { excludedEncodes: ['AV1', 'H-SBS'], excludedVisualTags: ['3D'] },
      { excludedEncodes: ['AV1'], excludedVisualTags: ['3D', 'H-SBS'] },
    ],
    [
      'failover of Usenet',
      { nzbFailover: { enabled: true, count: 4 } },
      { failover: { enabled: true, maxAttempts: 4, contentTypes: ['usenet'] } },
    ],
    ['the number of failovers', { failover: { enabled: true, count: 2 } }, { failover: { maxAttempts: 2 } }],
    [
      'posters of catalogs',
      { catalogModifications: [{ id: 'a', type: 'movie', rpdb: true }] },
      { catalogModifications: [{ id: 'a', usePosterService: true }] },
    ],
    ['the access key', { accessToken: 'k' }, { accessKey: 'k' }],
    [
      'the type of anime',
      { excludedStreamExpressions: [`queryType == "anime" ? streams : []`, { expression: `'anime' != queryType` }] },
      {
        excludedStreamExpressions: [
          { expression: `(queryType == 'anime.series' or queryType == 'anime.movie') ? streams : []` },
          { expression: `(queryType != 'anime.series' and queryType != 'anime.movie')` },
        ],
      },
    ],
  ])('keeps the meaning of %s', (_case, older, current) => {
    const config = read(older);
    const list = config.excludedStreamExpressions?.map((entry: unknown) =>
      typeof entry === 'string' ? { expression: entry } : entry,
    );
    expect(list === undefined ? config : { ...config, excludedStreamExpressions: list }).toMatchObject(current);
    for (const name of ['showStatistics', 'statisticsPosition', 'nzbFailover', 'accessToken', 'disableGroups'])
      expect(config).not.toHaveProperty(name);
  });
});

describe('a hostile template', () => {
  const resolve = (addonName: unknown, inputList: readonly object[] = []) =>
    readConfig({
      metadata: metadata({ inputs: inputList }),
      config: { presets: [], formatter: { id: 'torrentio' }, sortCriteria: { global: [] }, addonName },
    });

  it.each([
    ['negations', '!'.repeat(200_000)],
    ['spaces', ' '.repeat(200_000)],
  ])('does not evaluate a condition with many %s', (_name, characters) => {
    const condition = `!inputs.a${characters}inputs.b`;
    const { addonName, importNotes } = resolve({ __if: condition, __value: 'x' });
    expect(addonName).toBeUndefined();
    expect(importNotes?.join('\n')).toContain(m.templateConditionTooLong({ maximum: 2000 }));
  });

  it('reads an unfinished reference in linear time', () => {
    const startedAt = performance.now();
    resolve(`{{inputs.${' '.repeat(500_000)}`);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('limits the length of all inserted values', () => {
    const { importNotes } = resolve('{{inputs.a}} '.repeat(20_000), [input('a', 'string', 'x'.repeat(500_000))]);
    expect(importNotes?.join('\n')).toContain('inserts too much text');
  });
});

describe('a template over HTTP', () => {
  let host: TestHost;
  let up: FakeAddon;
  beforeAll(async () => {
    host = await openAddonsHost();
    up = await openFakeAddon({
      streams: ['2160p', '1080p'].map((resolution) => ({
        name: 'Up',
        url: `http://h.example/${resolution}`,
        behaviorHints: { filename: `A.2019.${resolution}.mkv` },
      })),
    });
  });
  afterAll(async () => {
    await up[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });
  const shared = (): object =>
    template({
      presets: [
        { type: 'custom', instanceId: 'u', __if: '!services', options: { name: 'Up', manifestUrl: up.manifestUrl } },
      ],
      excludedResolutions: [{ __if: 'inputs.hideDv', __value: '2160p' }],
      formatter: { id: 'torrentio' },
    });

  it('creates a user of the API that applies the resolved filters', async () => {
    const response = await fetch(`${host.url('addons')}/api/v1/user`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ config: shared(), password }),
    });
    const { data } = await readJson(response);
    expect([response.status, data.notes.join('\n')]).toEqual([
      201,
      expect.stringContaining('The default true is used.'),
    ]);
    const base = `${host.url('addons')}/stremio/${data.uuid}/${data.encryptedPassword}`;
    expect(await fetchStreams(base)).toEqual([expect.objectContaining({ url: 'http://h.example/1080p' })]);
  });

  it('is merged into a profile of the page, also as the first one of a list', async () => {
    const control = host.url('control');
    const own = { type: 'custom', instanceId: 'own', options: { name: 'Own', manifestUrl: up.manifestUrl } };
    const before = { presets: [own], addonName: 'Mine', sortCriteria: { global: [] }, formatter: { id: 'prism' } };
    const { uuid } = await api<{ uuid: string }>(control, '/api/addons/profiles', {
      method: 'POST',
      body: JSON.stringify({ config: before }),
    });
    const path = `/api/addons/profiles/${uuid}`;
    const partial = template({ excludedResolutions: [{ __if: 'inputs.hideDv', __value: '2160p' }], sortCriteria: 5 });
    await api(control, `${path}?merge=yes&import=yes`, {
      method: 'PUT',
      body: JSON.stringify({ config: [partial, shared()] }),
    });
    const merged = await api<{ config: any; notes: string[] }>(control, path);
    expect(merged.config).toMatchObject({
      ...{ addonName: 'Mine', presets: [{ instanceId: 'own' }], formatter: { id: 'prism' } },
      excludedResolutions: ['2160p'],
    });
    expect(merged.notes.join('\n')).toContain(m.templateSelected({ count: 2, name: 'One' }));
    expect(merged.notes.join('\n')).toContain('sortCriteria.global is missing or not supported');
    await api(control, path, { method: 'PUT', body: JSON.stringify({ config: [shared()] }) });
    expect((await api<{ config: any }>(control, path)).config.presets).toMatchObject([{ instanceId: 'u' }]);
  });

  it('creates a profile on the page, which lists the default values', async () => {
    const control = host.url('control');
    const body = JSON.stringify({ config: shared() });
    const { uuid } = await api<{ uuid: string }>(control, '/api/addons/profiles', { method: 'POST', body });
    const { config, notes } = await api<{ config: any; notes: string[] }>(control, `/api/addons/profiles/${uuid}`);
    expect(config.excludedResolutions).toEqual(['2160p']);
    expect(notes.join('\n')).toContain(m.templateInputEmpty({ label: 'The name (name)' }));
  });
});
