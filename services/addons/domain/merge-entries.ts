import type { MergedCatalog } from './config-catalogs.ts';
import { plainTitle } from './pipeline/title-request.ts';

/** Entry of a catalog as the addon returned it. */
export type Entry = Readonly<Record<string, unknown>>;

/** Merges pages of several catalogs into one list, without duplicates if the configuration removes them. */
export function mergeEntries(
  pages: readonly (readonly Entry[])[],
  { mergeMethod, deduplicationMethods }: Pick<MergedCatalog, 'mergeMethod' | 'deduplicationMethods'>,
  known: Set<string>,
): readonly Entry[] {
  const ordered = inOrder(pages, mergeMethod ?? 'sequential');
  return ordered.filter((entry) => {
    const keys = (deduplicationMethods ?? []).flatMap((method) => keyOf(entry, method));
    const isTwin = keys.some((key) => known.has(key));
    for (const key of keys) known.add(key);
    return !isTwin;
  });
}

function inOrder(
  pages: readonly (readonly Entry[])[],
  method: NonNullable<MergedCatalog['mergeMethod']>,
): readonly Entry[] {
  if (method === 'interleave') {
    const longest = Math.max(0, ...pages.map((page) => page.length));
    return Array.from({ length: longest }, (_, at) => pages.flatMap((page) => page.slice(at, at + 1))).flat();
  }
  const all = pages.flat();
  if (method === 'sequential') return all;
  const valueOf = method === 'imdbRating' ? ratingOf : releaseOf;
  const sign = method === 'releaseDateAsc' ? 1 : -1;
  return all
    .map((entry) => ({ entry, value: valueOf(entry) }))
    .toSorted((one, other) => {
      // Entries without a value are last in both directions.
      if (one.value === undefined || other.value === undefined)
        return Number(one.value === undefined) - Number(other.value === undefined);
      return sign * (one.value - other.value);
    })
    .map(({ entry }) => entry);
}

function ratingOf({ imdbRating }: Entry): number | undefined {
  const value = typeof imdbRating === 'string' || typeof imdbRating === 'number' ? Number(imdbRating) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

function releaseOf({ released, releaseInfo, year }: Entry): number | undefined {
  const date = typeof released === 'string' ? Date.parse(released) : NaN;
  if (Number.isFinite(date)) return date;
  const text = [releaseInfo, year].find((one) => typeof one === 'string' || typeof one === 'number');
  const found = /\d{4}/.exec(String(text ?? ''));
  return found === null ? undefined : Date.UTC(Number(found[0]), 0);
}

function keyOf(entry: Entry, method: 'id' | 'title'): string | [] {
  const { id, type, name } = entry;
  if (method === 'id') return typeof id === 'string' ? `id ${id}` : [];
  if (typeof name !== 'string') return [];
  const time = releaseOf(entry);
  const year = time === undefined ? '' : String(new Date(time).getUTCFullYear());
  return `title ${typeof type === 'string' ? type : ''} ${plainTitle(name)} ${year}`;
}

/** Shuffles a list. The order depends only on the seed. */
export function shuffled<Item>(list: readonly Item[], seed: string): readonly Item[] {
  let state = 2_166_136_261;
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 16_777_619);
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const result = [...list];
  for (let at = result.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    const [one, two] = [result[at], result[other]];
    if (one !== undefined && two !== undefined) [result[at], result[other]] = [two, one];
  }
  return result;
}
