import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, sendJson } from './fake-addon.ts';
import { configOf, customPreset, getJson, makeUser, openAddonsHost } from './rig.ts';

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly imdbRating?: string;
  readonly releaseInfo?: string;
}

/** An addon with one list of entries that comes in pages of `length`. */
function openList(entries: readonly Entry[], { length = 100, extra = [] as readonly object[], broken = false } = {}) {
  return openFakeAddon({
    manifest: {
      ...{ id: 'l', name: 'L', version: '1.0.0', types: ['movie'], resources: ['catalog'] },
      catalogs: [{ type: 'movie', id: 'list', name: 'List', extra: [{ name: 'skip' }, ...extra] }],
    },
    answer: (request, response) => {
      const [, resource, , , more = ''] = (request.url ?? '').split('/');
      if (resource !== 'catalog') return false;
      if (broken) return (sendJson(response, {}, 500), true);
      const skip = Number(new URLSearchParams(more.replace(/\.json$/, '')).get('skip') ?? 0);
      sendJson(response, { metas: entries.slice(skip, skip + length).map((one) => ({ type: 'movie', ...one })) });
      return true;
    },
  });
}

const numbered = (letter: string, count: number): readonly Entry[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${letter}${String(at)}`, name: `${letter}${String(at)}` }));
const source = (instanceId: string): string =>
  `id=${encodeURIComponent(`${instanceId}e3b0.list`)}&type=${encodeURIComponent('movie')}`;

describe('merged catalogs', () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await openAddonsHost();
  });
  afterAll(() => host[Symbol.asyncDispose]());

  const merged = (more: object = {}): object => ({
    ...{ id: 'aiostreams.merged.all', name: 'All', type: 'movie', catalogIds: [source('a'), source('b')] },
    ...more,
  });
  const make = async (one: { manifestUrl: string }, two: { manifestUrl: string }, more: object): Promise<string> =>
    (
      await makeUser(
        host,
        configOf([customPreset('a', 'A', one.manifestUrl), customPreset('b', 'B', two.manifestUrl)], more),
      )
    ).base;
  const ids = async (base: string, extra = ''): Promise<string[]> =>
    (await getJson(`${base}/catalog/movie/aiostreams.merged.all${extra}.json`)).metas.map(({ id }: Entry) => id);

  it('replaces the sources in the manifest', async () => {
    await using one = await openList([]);
    await using two = await openList([], { extra: [{ name: 'genre', isRequired: true, options: ['Drama'] }] });
    const base = await make(one, two, {
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
  ])('merges entries: %s', async (_what, more, wanted) => {
    const film = (id: string, name: string, imdbRating?: string, releaseInfo?: string): Entry => ({
      ...{ id, name },
      ...(imdbRating === undefined ? {} : { imdbRating }),
      ...(releaseInfo === undefined ? {} : { releaseInfo }),
    });
    await using one = await openList([
      film('x1', 'One', '8.1', '2001'),
      film('x2', 'Two', '7.9', '2010'),
      film('x3', 'Three', undefined, '1999'),
    ]);
    await using two = await openList([
      film('y1', 'Uno', '9', '2020-2024'),
      film('x2', 'Two', '7.9', '2010'),
      film('y3', 'Thrée!', '2', '1999'),
    ]);
    expect(await ids(await make(one, two, { mergedCatalogs: [merged(more)] }))).toEqual(wanted);
  });

  it('have pages of 100 entries, whatever the page length of the addons', async () => {
    await using one = await openList(numbered('x', 130), { length: 20 });
    await using two = await openList(numbered('y', 45), { length: 45 });
    const base = await make(one, two, { mergedCatalogs: [merged({ mergeMethod: 'interleave' })] });
    const pages = [await ids(base), await ids(base, '/skip=100'), await ids(base, '/skip=200')];
    expect(pages.map((page) => page.length)).toEqual([100, 75, 0]);
    expect(new Set(pages.flat()).size).toBe(175);
  });

  it('are requested with the supported extras, and list errors after the entries', async () => {
    await using one = await openList(numbered('x', 2), { extra: [{ name: 'genre', options: ['Drama'] }] });
    await using two = await openList(numbered('y', 2));
    const base = await make(one, two, { mergedCatalogs: [merged()] });
    expect(await ids(base, '/genre=Drama')).toEqual(['x0', 'x1']);
    await using broken = await openList([], { broken: true });
    const half = await make(one, broken, { mergedCatalogs: [merged()] });
    const { metas } = await getJson(`${half}/catalog/movie/aiostreams.merged.all.json`);
    expect(metas.map(({ name }: Entry) => name)).toEqual(['x0', 'x1', '[❌] B']);
    expect(metas[2].description).toMatch(/500/);
  });

  it('reports a missing catalog', async () => {
    const { base } = await makeUser(host, configOf([]));
    const { metas } = await getJson(`${base}/catalog/movie/aiostreams.merged.all.json`);
    expect(metas).toEqual([expect.objectContaining({ name: '[❌] Merged catalog not found' })]);
  });

  it('are shuffled for the configured time, except for search results', async () => {
    await using list = await openList(numbered('x', 60), { extra: [{ name: 'search' }] });
    const order = async (more: object, extra = ''): Promise<string> => {
      const { base } = await makeUser(
        host,
        configOf([customPreset('a', 'A', list.manifestUrl)], {
          catalogModifications: [{ id: 'ae3b0.list', type: 'movie', enabled: true, ...more }],
        }),
      );
      const told: string[] = [];
      for (let round = 0; round < 2; round += 1)
        told.push(
          (await getJson(`${base}/catalog/movie/ae3b0.list${extra}.json`)).metas.map(({ id }: Entry) => id).join(),
        );
      return [told[0] === told[1] ? 'stays' : 'changes', told[0]].join(' ');
    };
    const plain = numbered('x', 60)
      .map(({ id }) => id)
      .join();
    expect(await order({})).toBe(`stays ${plain}`);
    expect(await order({ shuffle: true })).toMatch(/^changes /);
    const kept = await order({ shuffle: true, persistShuffleFor: 24 });
    expect(kept).toMatch(/^stays /);
    expect(kept.split(' ')[1]?.split(',').toSorted()).toEqual(plain.split(',').toSorted());
    expect(kept).not.toContain(plain);
    expect(await order({ shuffle: true }, '/search=x')).toBe(`stays ${plain}`);
    expect(await order({ reverse: true })).toBe(`stays ${plain.split(',').toReversed().join()}`);
  });
});
