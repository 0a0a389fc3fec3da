import { toRecord } from '../../../../../services/contracts/is-record.ts';

/** Range of a configuration, in the unit of the form. */
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

/** Stored value of a range without an upper bound. */
const unboundedValue = 1e15;

type ConfigObject = Readonly<Record<string, unknown>>;

export function readRange(
  config: ConfigObject,
  { path, factor }: RangeField,
): { min: number | null; max: number | null } {
  const value = getValue(config, path);
  const [min, max] = Array.isArray(value) ? (value as unknown[]) : [];
  return {
    min: typeof min === 'number' && min > 0 ? min / factor : null,
    max: typeof max === 'number' && max < unboundedValue ? max / factor : null,
  };
}

/** Converts a range to its stored form; `null` without bounds. */
export function toRangeValue(
  { min, max }: { readonly min: number | null; readonly max: number | null },
  { factor }: RangeField,
): readonly [number, number] | null {
  return min === null && max === null ? null : [(min ?? 0) * factor, max === null ? unboundedValue : max * factor];
}

/** Returns the value at a dotted path. */
export function getValue(config: ConfigObject, path: string): unknown {
  let value: unknown = config;
  for (const name of path.split('.'))
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return value;
}

/** Returns a copy with another value at a path. A `null` value creates no missing objects. */
export function withValue(config: ConfigObject, path: string, value: unknown): Record<string, unknown> {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    if (value === null && !Object.hasOwn(config, name)) return { ...config };
    return { ...config, [name]: value };
  }
  const inner = config[name];
  if (value === null && inner === undefined) return { ...config };
  const members = toRecord(inner);
  return { ...config, [name]: withValue(members, rest.join('.'), value) };
}
