import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig, readConfig } from '../../../services/addons/domain/read-config.ts';
import { api } from '../../support/api.ts';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, getJson, openAddonsHost, password, readJson, fetchStreams } from './rig.ts';

const long = `(?:a|${'b'.repeat(3200)})`;
let host: TestHost;
let up: FakeAddon;
beforeAll(async () => {
  host = await openAddonsHost();
  up = await openFakeAddon({
    streams: [{ name: 'Up', url: 'http://h.example/x', behaviorHints: { filename: 'A.2019.1080p.mkv' } }],
  });
});
afterAll(async () => {
  await up[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const post = async (config: unknown): Promise<{ status: number; body: any }> => {
  const response = await fetch(`${host.url('addons')}/api/v1/user`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ config, password }),
  });
  return { status: response.status, body: await readJson(response) };
};
const config = (overrides: object): Record<string, unknown> =>
  buildConfig([customPreset('u', 'Up', up.manifestUrl)], overrides);

describe('import of a configuration of AIOStreams', () => {
  it('accepts patterns and lists of the size of public ones', async () => {
    const overrides = {
      addonName: 'n'.repeat(300),
      preferredRegexPatterns: [{ name: 'x', pattern: long }],
      excludedRegexPatterns: Array.from({ length: 200 }, (_, index) => `no-match-${String(index)}`),
      rankedRegexPatterns: Array.from({ length: 187 }, (_, index) => ({
        name: 'r',
        pattern: `r${String(index)}`,
        score: 1,
      })),
      preferredStreamExpressions: [`/*long*/ keyword(streams, ${Array.from({ length: 400 }, () => "'word'").join()})`],
    };
    const { status, body } = await post(config(overrides));
    expect([status, body.data.notes]).toEqual([201, undefined]);
    const base = `${host.url('addons')}/stremio/${body.data.uuid}/${body.data.encryptedPassword}`;
    expect((await fetchStreams(base)).map(({ name }) => name)).toEqual([expect.stringContaining('Up')]);
  });

  it.each<[string, object, string]>([
    ['an unknown value in a list', { seederRangeTypes: ['p2p', 'usenet'] }, 'seederRangeTypes.1'],
    [
      'an unknown mode',
      { deduplicator: { enabled: true, multiGroupBehaviour: 'newest' } },
      'deduplicator.multiGroupBehaviour',
    ],
    ['a number as text', { size: { global: { movies: ['0', 5] } } }, 'size.global.movies'],
    ['a member of another type', { excludeCached: 'no' }, 'excludeCached'],
    ['an object instead of a list', { excludedResolutions: { a: 1 } }, 'excludedResolutions'],
    ['a pattern of another shape', { preferredRegexPatterns: [{ name: 'x' }, 'ok'] }, 'preferredRegexPatterns.0'],
    [
      'a score that is too high',
      { rankedStreamExpressions: [{ expression: 'streams', score: 1e9 }] },
      'rankedStreamExpressions.0.score',
    ],
    ['a service without an id', { services: [{ enabled: true }] }, 'services.0'],
    ['a variant with an invalid ID', { variants: [{ id: 'Bad Id!', script: '' }] }, 'variants.0.id'],
    [
      'a merged catalog without a name',
      { mergedCatalogs: [{ id: 'm', type: 'movie', catalogIds: [] }] },
      'mergedCatalogs.0',
    ],
    ['a sort criterion that is a number', { sortCriteria: { global: [5, { key: 'size' }] } }, 'sortCriteria.global.0'],
    ['a limit below zero', { resultLimits: { global: -1 } }, 'resultLimits.global'],
    ['an invalid format', { formatter: 'torrentio' }, 'formatter'],
  ])('omits %s and lists it', async (_case, overrides, path) => {
    const { status, body } = await post(config(overrides));
    expect(status).toBe(201);
    expect(body.data.notes.join('\n')).toContain(path);
  });

  it('preserves the fields next to an omitted value', () => {
    const read = readConfig(
      buildConfig([], {
        seederRangeTypes: ['p2p', 'usenet', 'cached'],
        rankedStreamExpressions: [
          { expression: 'a', score: 1e9 },
          { expression: 'b', score: 5 },
        ],
        deduplicator: { enabled: true, cached: 'nonsense', p2p: 'single_result' },
        size: { global: { movies: [1, 'x'], series: [1, 2] } },
        presets: [{ type: 'custom', instanceId: 'ok', options: {} }, { type: 5 }, 'text'],
        deadline: 5,
      }),
    );
    expect(read).toMatchObject({
      seederRangeTypes: ['p2p', 'cached'],
      rankedStreamExpressions: [
        { expression: 'a', score: 1_000_000 },
        { expression: 'b', score: 5 },
      ],
      deduplicator: { enabled: true, p2p: 'single_result' },
      size: { global: { series: [1, 2] } },
      presets: [{ instanceId: 'ok' }],
      deadline: 1000,
    });
    expect(read.deduplicator).not.toHaveProperty('cached');
  });

  it('reads a template and creates unique instance IDs', () => {
    const preset = (instanceId: string): object => ({ type: 'custom', instanceId, options: {} });
    const template = { metadata: { name: 'T' }, config: { ...buildConfig([preset('a b'), preset('x'), preset('x')]) } };
    const read = readConfig([template]);
    expect(read.presets.map(({ instanceId }) => instanceId)).toEqual(['a-b', 'x', 'x-2']);
    expect(read.importNotes).toHaveLength(2);
  });

  it('adds a default format and order', () => {
    const read = readConfig({ presets: [] });
    expect([read.formatter, read.sortCriteria, read.importNotes?.length]).toEqual([
      { id: 'torrentio' },
      { global: [] },
      2,
    ]);
  });

  it.each([5, null, 'x', [], {}, { presets: 5 }])('refuses other values: %j', (value) => {
    expect(() => readConfig(value)).toThrow();
    expect(() => parseConfig(JSON.stringify(value))).toThrow();
  });

  it('shows the omitted parts on the page until the configuration is saved', async () => {
    const control = host.url('control');
    const body = JSON.stringify({ config: config({ excludeCached: 'no' }) });
    const { uuid } = await api<{ uuid: string }>(control, '/api/addons/profiles', { method: 'POST', body });
    const profile = `/api/addons/profiles/${uuid}`;
    const profileView = await api<{ config: object; notes: string[] }>(control, profile);
    expect(profileView.notes.join('\n')).toContain('excludeCached isn’t supported');
    await api(control, profile, { method: 'PUT', body: JSON.stringify({ config: profileView.config }) });
    expect((await api<{ notes: string[] }>(control, profile)).notes).toEqual([]);
  });

  it('keeps addons that cannot be used now, and lists them', async () => {
    const control = host.url('control');
    const presets = [
      customPreset('gone', 'Gone', 'http://127.0.0.1:9/manifest.json'),
      customPreset('typo', 'Typo', 'no address'),
      customPreset('u', 'Up', up.manifestUrl),
    ];
    const body = JSON.stringify({ config: buildConfig(presets) });
    const created = await api<{ uuid: string }>(control, '/api/addons/profiles?import=yes', { method: 'POST', body });
    const { uuid } = await api<{ uuid: string }>(control, '/api/addons/profiles', {
      method: 'POST',
      body: JSON.stringify({ config: config({}) }),
    });
    await api(control, `/api/addons/profiles/${uuid}?import=yes`, { method: 'PUT', body });
    for (const id of [created.uuid, uuid]) {
      const view = await api<{ config: { presets: { instanceId: string }[] }; notes: string[] }>(
        control,
        `/api/addons/profiles/${id}`,
      );
      expect(view.config.presets.map(({ instanceId }) => instanceId)).toEqual(['gone', 'typo', 'u']);
      expect(view.notes).toEqual([
        expect.stringContaining('Typo has an invalid Manifest URL.'),
        expect.stringContaining('Gone isn’t reachable'),
      ]);
    }
    const edited = { method: 'PUT', body };
    await expect(api(control, `/api/addons/profiles/${uuid}`, edited)).rejects.toThrow('Typo has an invalid');
  });

  it('lists patterns that are invalid or have another meaning', async () => {
    const control = host.url('control');
    const excludedRegexPatterns = [
      '/hdtv/xq',
      '\\Ahdtv\\z',
      '[[:alpha:]]{40}',
      '/\\p{Lu}{40}/',
      'hdtv++',
      '/\\p{Lu}{40}/u',
    ];
    const body = JSON.stringify({ config: config({ excludedRegexPatterns }) });
    const { uuid } = await api<{ uuid: string }>(control, '/api/addons/profiles', { method: 'POST', body });
    const { notes } = await api<{ notes: string[] }>(control, `/api/addons/profiles/${uuid}`);
    expect(notes.join('\n')).toContain('flags “xq”');
    for (const expectedNote of [
      'treats \\A \\z',
      'treats [[:alpha:]]',
      'treats \\p{…}',
      'has no effect. The pattern isn’t valid',
    ])
      expect(notes.join('\n')).toContain(expectedNote);
    expect(notes).toHaveLength(5);
  });
});

describe('ADDON_PASSWORD', () => {
  it('accepts each of several passwords', async () => {
    await using locked = await openAddonsHost({ ADDON_PASSWORD: 'one, two' });
    const create = async (addonPassword: string): Promise<number> => {
      const response = await fetch(`${locked.url('addons')}/api/v1/user`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ config: { ...buildConfig([]), addonPassword }, password }),
      });
      return response.status;
    };
    expect([await create('one'), await create('two'), await create('three'), await create('one, two')]).toEqual([
      ...[201, 201, 401, 401],
    ]);
    const { data } = await getJson(`${locked.url('addons')}/api/v1/status`);
    expect(data.settings.protected).toBe(true);
  });
});
