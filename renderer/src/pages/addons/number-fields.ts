/** A range of a configuration, in the unit that people count in. */
export interface RangeField {
  readonly path: string;
  readonly title: string;
  readonly unit: string;
  readonly factor: number;
}

export const rangeFields: readonly RangeField[] = [
  { path: 'size.global.movies', title: 'Size of a film', unit: 'GB', factor: 1e9 },
  { path: 'size.global.series', title: 'Size of an episode', unit: 'GB', factor: 1e9 },
  { path: 'size.global.anime', title: 'Size of an anime', unit: 'GB', factor: 1e9 },
  { path: 'bitrate.global.movies', title: 'Bit rate of a film', unit: 'Mbit/s', factor: 1e6 },
  { path: 'bitrate.global.series', title: 'Bit rate of an episode', unit: 'Mbit/s', factor: 1e6 },
  { path: 'requiredSeederRange', title: 'Seeders', unit: 'seeders', factor: 1 },
  { path: 'requiredAgeRange', title: 'Age', unit: 'days', factor: 24 },
];

export const limitFields: readonly (readonly [path: string, title: string])[] = [
  ['resultLimits.global', 'Altogether'],
  ['resultLimits.resolution', 'Of a resolution'],
  ['resultLimits.quality', 'Of a quality'],
  ['resultLimits.service', 'Of an account'],
  ['resultLimits.addon', 'Of an addon'],
  ['resultLimits.streamType', 'Of a kind of stream'],
  ['resultLimits.indexer', 'Of an indexer'],
  ['resultLimits.releaseGroup', 'Of a release group'],
];

export const flagFields: readonly (readonly [path: string, title: string])[] = [
  ['titleMatching.enabled', 'Hide what has another title'],
  ['yearMatching.enabled', 'Hide what is of another year'],
  ['seasonEpisodeMatching.enabled', 'Hide other seasons and episodes'],
  ['excludeSeasonPacks', 'Hide whole seasons'],
  ['excludeCached', 'Hide what plays at once'],
  ['spreadServices', 'Take the accounts in turn where several have the same'],
  ['failover.enabled', 'Play the next where a stream does not play'],
  ['dynamicAddonFetching.enabled', 'Do not wait for slow addons once 20 streams are there'],
  ['statistics.enabled', 'List how the addons did and what was hidden'],
  ['enableSeadex', 'Mark what SeaDex recommends of anime'],
  ['precacheNextEpisode', 'Fetch the next episode while this one is watched'],
  ['externalDownloads', 'Below each stream one that opens its file in the browser'],
  ['newCatalogsDisabled', 'Hide catalogs that are there later than the list of catalogs'],
  ['hideErrors', 'Say nothing about addons that fail'],
];

/** More than any stream has: no upper end. */
const endless = 1e15;

type Members = Readonly<Record<string, unknown>>;

export function rangeAt(config: Members, { path, factor }: RangeField): { least: number | null; most: number | null } {
  const value = valueAt(config, path);
  const [least, most] = Array.isArray(value) ? (value as unknown[]) : [];
  return {
    least: typeof least === 'number' && least > 0 ? least / factor : null,
    most: typeof most === 'number' && most < endless ? most / factor : null,
  };
}

/** The range as configurations have it; null where it says nothing. */
export function rangeOf(
  { least, most }: { readonly least: number | null; readonly most: number | null },
  { factor }: RangeField,
): readonly [number, number] | null {
  return least === null && most === null ? null : [(least ?? 0) * factor, most === null ? endless : most * factor];
}

/** A member of a member, by its path. */
export function valueAt(config: Members, path: string): unknown {
  let value: unknown = config;
  for (const name of path.split('.'))
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return value;
}

/** A copy with another value at a path; nothing is made for the sake of no value. */
export function withValue(config: Members, path: string, value: unknown): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    if (value === null && !Object.hasOwn(config, name)) return { ...config };
    return { ...config, [name]: value };
  }
  const inner = config[name];
  if (value === null && inner === undefined) return { ...config };
  const members = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as Members) : {};
  return { ...config, [name]: withValue(members, rest.join('.'), value) };
}
