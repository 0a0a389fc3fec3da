import type { MergedCatalog } from './config-catalogs.ts';
import { normalizeTitle } from './title-request.ts';

/** Entry of a catalog as the addon returned it. */
export type Entry = Readonly<Record<string, unknown>>;

/** Merges pages of several catalogs into one list, without duplicates if the configuration removes them. */
export function mergeEntries(
  pages: readonly (readonly Entry[])[],
  { mergeMethod, deduplicationMethods }: Pick<MergedCatalog, 'mergeMethod' | 'deduplicationMethods'>,
  knownKeys: Set<string>,
): readonly Entry[] {
  const orderedEntries = orderEntries(pages, mergeMethod ?? 'sequential');
  return orderedEntries.filter((entry) => {
    const keys = (deduplicationMethods ?? []).flatMap((method) => buildDuplicateKey(entry, method));
    const isDuplicate = keys.some((key) => knownKeys.has(key));
    for (const key of keys) knownKeys.add(key);
    return !isDuplicate;
  });
}

function orderEntries(
  pages: readonly (readonly Entry[])[],
  method: NonNullable<MergedCatalog['mergeMethod']>,
): readonly Entry[] {
  if (method === 'interleave') {
    const maxPageLength = Math.max(0, ...pages.map((page) => page.length));
    return Array.from({ length: maxPageLength }, (_, index) =>
      pages.flatMap((page) => page.slice(index, index + 1)),
    ).flat();
  }
  const all = pages.flat();
  if (method === 'sequential') return all;
  const getSortValue = method === 'imdbRating' ? getRating : getReleaseDate;
  const sign = method === 'releaseDateAsc' ? 1 : -1;
  return all
    .map((entry) => ({ entry, value: getSortValue(entry) }))
    .toSorted((a, b) => {
      // Entries without a value are last in both directions.
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined);
      return sign * (a.value - b.value);
    })
    .map(({ entry }) => entry);
}

function getRating({ imdbRating }: Entry): number | undefined {
  const value = typeof imdbRating === 'string' || typeof imdbRating === 'number' ? Number(imdbRating) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

function getReleaseDate({ released, releaseInfo, year }: Entry): number | undefined {
  const date = typeof released === 'string' ? Date.parse(released) : NaN;
  if (Number.isFinite(date)) return date;
  const text = [releaseInfo, year].find((candidate) => typeof candidate === 'string' || typeof candidate === 'number');
  const yearMatch = /\d{4}/.exec(String(text ?? ''));
  return yearMatch === null ? undefined : Date.UTC(Number(yearMatch[0]), 0);
}

function buildDuplicateKey(entry: Entry, method: 'id' | 'title'): string | [] {
  const { id, type, name } = entry;
  if (method === 'id') return typeof id === 'string' ? `id ${id}` : [];
  if (typeof name !== 'string') return [];
  const time = getReleaseDate(entry);
  const year = time === undefined ? '' : String(new Date(time).getUTCFullYear());
  return `title ${typeof type === 'string' ? type : ''} ${normalizeTitle(name)} ${year}`;
}

/** Shuffles a list. The order depends only on the seed. */
export function shuffle<Item>(list: readonly Item[], seed: string): readonly Item[] {
  let state = 2_166_136_261;
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 16_777_619);
  const nextRandom = (): number => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const result = [...list];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const swapIndex = Math.floor(nextRandom() * (index + 1));
    const [item, swappedItem] = [result[index], result[swapIndex]];
    if (item !== undefined && swappedItem !== undefined) [result[index], result[swapIndex]] = [swappedItem, item];
  }
  return result;
}
