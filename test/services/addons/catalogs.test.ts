import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson } from './fake-addon.ts';
import { buildConfig, customPreset, getJson, makeUser, openAddonsHost } from './rig.ts';

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly imdbRating?: string;
  readonly releaseInfo?: string;
}

/** Opens an addon with one catalog, which has pages of `length` entries. */
function openList(entries: readonly Entry[], { length = 100, extra = [] as readonly object[], broken = false } = {}) {
  return openFakeAddon({
    manifest: {
      ...{ id: 'l', name: 'L', version: '1.0.0', types: ['movie'], resources: ['catalog'] },
      catalogs: [{ type: 'movie', id: 'list', name: 'List', extra: [{ name: 'skip' }, ...extra] }],
    },
    answer: (request, response) => {
      const [, resource, , , overrides = ''] = (request.url ?? '').split('/');
      if (resource !== 'catalog') return false;
      if (broken) return (sendJson(response, {}, 500), true);
      const skip = Number(new URLSearchParams(overrides.replace(/\.json$/, '')).get('skip') ?? 0);
      sendJson(response, { metas: entries.slice(skip, skip + length).map((entry) => ({ type: 'movie', ...entry })) });
      return true;
    },
  });
}

const numbered = (letter: string, count: number): readonly Entry[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${letter}${String(index)}`, name: `${letter}${String(index)}` }));
const source = (instanceId: string): string =>
  `id=${encodeURIComponent(`${instanceId}e3b0.list`)}&type=${encodeURIComponent('movie')}`;

describe('merged catalogs', () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await openAddonsHost();
  });
  afterAll(() => host[Symbol.asyncDispose]());

  const merged = (overrides: object = {}): object => ({
    ...{ id: 'aiostreams.merged.all', name: 'All', type: 'movie', catalogIds: [source('a'), source('b')] },
    ...overrides,
  });
  const make = async (
    firstAddon: { manifestUrl: string },
    secondAddon: { manifestUrl: string },
    overrides: object,
  ): Promise<string> =>
    (
      await makeUser(
        host,
        buildConfig(
          [customPreset('a', 'A', firstAddon.manifestUrl), customPreset('b', 'B', secondAddon.manifestUrl)],
          overrides,
        ),
      )
    ).base;
  const ids = async (base: string, extra = ''): Promise<string[]> =>
    (await getJson(`${base}/catalog/movie/aiostreams.merged.all${extra}.json`)).metas.map(({ id }: Entry) => id);

  it('replaces the sources in the manifest', async () => {
    await using firstAddon = await openList([]);
    await using secondAddon = await openList([], { extra: [{ name: 'genre', isRequired: true, options: ['Drama'] }] });
    const base = await make(firstAddon, secondAddon, {
      mergedCatalogs: [merged(), merged({ id: 'aiostreams.merged.off', enabled: false })],
      catalogModifications: [{ id: 'aiostreams.merged.all', type: 'movie', name: 'Everything', enabled: true }],
    });
    const { catalogs } = await getJson(`${base}/manifest.json`);
    expect(catalogs).toEqual([
      {
        ...{ id: 'aiostreams.merged.all', type: 'movie', name: 'Everything' },
        extra: [{ name: 'skip' }, { name: 'genre', options: ['Drama'] }],
      },
    ]);
  });

  it.each([
    ['sequential', {}, ['x1', 'x2', 'x3', 'y1', 'x2', 'y3']],
    ['interleave', { mergeMethod: 'interleave' }, ['x1', 'y1', 'x2', 'x2', 'x3', 'y3']],
    [
      'interleave without duplicate IDs',
      { mergeMethod: 'interleave', deduplicationMethods: ['id'] },
      ['x1', 'y1', 'x2', 'x3', 'y3'],
    ],
    [
      'sequential without duplicate titles',
      { mergeMethod: 'sequential', deduplicationMethods: ['title'] },
      ['x1', 'x2', 'x3', 'y1'],
    ],
    ['by rating', { mergeMethod: 'imdbRating' }, ['y1', 'x1', 'x2', 'x2', 'y3', 'x3']],
    ['oldest first', { mergeMethod: 'releaseDateAsc' }, ['x3', 'y3', 'x1', 'x2', 'x2', 'y1']],
    ['newest first', { mergeMethod: 'releaseDateDesc' }, ['y1', 'x2', 'x2', 'x1', 'x3', 'y3']],
  ])('merges entries: %s', async (_case, overrides, expectedIds) => {
    const createFilm = (id: string, name: string, imdbRating?: string, releaseInfo?: string): Entry => ({
      ...{ id, name },
      ...(imdbRating === undefined ? {} : { imdbRating }),
      ...(releaseInfo === undefined ? {} : { releaseInfo }),
    });
    await using firstAddon = await openList([
      createFilm('x1', 'One', '8.1', '2001'),
      createFilm('x2', 'Two', '7.9', '2010'),
      createFilm('x3', 'Three', undefined, '1999'),
    ]);
    await using secondAddon = await openList([
      createFilm('y1', 'Uno', '9', '2020-2024'),
      createFilm('x2', 'Two', '7.9', '2010'),
      createFilm('y3', 'Thrée!', '2', '1999'),
    ]);
    expect(await ids(await make(firstAddon, secondAddon, { mergedCatalogs: [merged(overrides)] }))).toEqual(
      expectedIds,
    );
  });

  it('have pages of 100 entries, whatever the page length of the addons', async () => {
    await using firstAddon = await openList(numbered('x', 130), { length: 20 });
    await using secondAddon = await openList(numbered('y', 45), { length: 45 });
    const base = await make(firstAddon, secondAddon, { mergedCatalogs: [merged({ mergeMethod: 'interleave' })] });
    const pages = [await ids(base), await ids(base, '/skip=100'), await ids(base, '/skip=200')];
    expect(pages.map((page) => page.length)).toEqual([100, 75, 0]);
    expect(new Set(pages.flat()).size).toBe(175);
  });

  it('are requested with the supported extras, and list errors after the entries', async () => {
    await using firstAddon = await openList(numbered('x', 2), { extra: [{ name: 'genre', options: ['Drama'] }] });
    await using secondAddon = await openList(numbered('y', 2));
    const base = await make(firstAddon, secondAddon, { mergedCatalogs: [merged()] });
    expect(await ids(base, '/genre=Drama')).toEqual(['x0', 'x1']);
    await using broken = await openList([], { broken: true });
    const half = await make(firstAddon, broken, { mergedCatalogs: [merged()] });
    const { metas } = await getJson(`${half}/catalog/movie/aiostreams.merged.all.json`);
    expect(metas.map(({ name }: Entry) => name)).toEqual(['x0', 'x1', '[❌] B']);
    expect(metas[2].description).toMatch(/500/);
  });

  it('reports a missing catalog', async () => {
    const { base } = await makeUser(host, buildConfig([]));
    const { metas } = await getJson(`${base}/catalog/movie/aiostreams.merged.all.json`);
    expect(metas).toEqual([expect.objectContaining({ name: '[❌] Merged catalog not found' })]);
  });

  it('are shuffled for the configured time, except for search results', async () => {
    await using list = await openList(numbered('x', 60), { extra: [{ name: 'search' }] });
    const order = async (overrides: object, extra = ''): Promise<string> => {
      const { base } = await makeUser(
        host,
        buildConfig([customPreset('a', 'A', list.manifestUrl)], {
          catalogModifications: [{ id: 'ae3b0.list', type: 'movie', enabled: true, ...overrides }],
        }),
      );
      const names: string[] = [];
      for (let round = 0; round < 2; round += 1)
        names.push(
          (await getJson(`${base}/catalog/movie/ae3b0.list${extra}.json`)).metas.map(({ id }: Entry) => id).join(),
        );
      return [names[0] === names[1] ? 'stays' : 'changes', names[0]].join(' ');
    };
    const unshuffledIds = numbered('x', 60)
      .map(({ id }) => id)
      .join();
    expect(await order({})).toBe(`stays ${unshuffledIds}`);
    expect(await order({ shuffle: true })).toMatch(/^changes /);
    const persistedOrder = await order({ shuffle: true, persistShuffleFor: 24 });
    expect(persistedOrder).toMatch(/^stays /);
    expect(persistedOrder.split(' ')[1]?.split(',').toSorted()).toEqual(unshuffledIds.split(',').toSorted());
    expect(persistedOrder).not.toContain(unshuffledIds);
    expect(await order({ shuffle: true }, '/search=x')).toBe(`stays ${unshuffledIds}`);
    expect(await order({ reverse: true })).toBe(`stays ${unshuffledIds.split(',').toReversed().join()}`);
  });
});
