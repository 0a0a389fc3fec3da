import * as m from '#messages/addons-rules';
import { toRecord } from '../../../../../services/contracts/is-record.ts';

/** Bounds of a range as parameters of its summary. */
interface RangeBounds {
  readonly bounds: 'min' | 'max' | 'both';
  readonly min: number;
  readonly max: number;
}

/** Range of a configuration, in the unit of the form. */
export interface RangeField {
  readonly path: string;
  readonly title: () => string;
  readonly unit: () => string;
  /** Title with the unit. */
  readonly legend: () => string;
  readonly summary: (values: RangeBounds) => string;
  readonly factor: number;
}

export const rangeFields: readonly RangeField[] = [
  {
    path: 'size.global.movies',
    title: m.sizeOfAFilm,
    unit: m.gb,
    legend: m.sizeOfAFilmLegend,
    summary: m.sizeOfAFilmRange,
    factor: 1e9,
  },
  {
    path: 'size.global.series',
    title: m.sizeOfAnEpisode,
    unit: m.gb,
    legend: m.sizeOfAnEpisodeLegend,
    summary: m.sizeOfAnEpisodeRange,
    factor: 1e9,
  },
  {
    path: 'size.global.anime',
    title: m.sizeOfAnAnime,
    unit: m.gb,
    legend: m.sizeOfAnAnimeLegend,
    summary: m.sizeOfAnAnimeRange,
    factor: 1e9,
  },
  {
    path: 'bitrate.global.movies',
    title: m.bitRateOfAFilm,
    unit: m.megabitsPerSecond,
    legend: m.bitRateOfAFilmLegend,
    summary: m.bitRateOfAFilmRange,
    factor: 1e6,
  },
  {
    path: 'bitrate.global.series',
    title: m.bitRateOfAnEpisode,
    unit: m.megabitsPerSecond,
    legend: m.bitRateOfAnEpisodeLegend,
    summary: m.bitRateOfAnEpisodeRange,
    factor: 1e6,
  },
  {
    path: 'requiredSeederRange',
    title: m.seeders,
    unit: m.seedersUnit,
    legend: m.seeders,
    summary: m.seedersRange,
    factor: 1,
  },
  {
    path: 'requiredAgeRange',
    title: m.age,
    unit: m.daysUnit,
    legend: m.ageLegend,
    summary: m.ageRange,
    factor: 24,
  },
];

/** Limits of the number of streams, with their labels and summaries. */
export const limitFields: readonly (readonly [
  path: string,
  title: () => string,
  summary: (values: { readonly limit: number }) => string,
])[] = [
  ['resultLimits.global', m.altogether, m.limitAltogether],
  ['resultLimits.resolution', m.ofAResolution, m.limitOfAResolution],
  ['resultLimits.quality', m.ofAQuality, m.limitOfAQuality],
  ['resultLimits.service', m.ofAnAccount, m.limitOfAnAccount],
  ['resultLimits.addon', m.ofAnAddon, m.limitOfAnAddon],
  ['resultLimits.streamType', m.ofAKindOfStream, m.limitOfAKindOfStream],
  ['resultLimits.indexer', m.ofAnIndexer, m.limitOfAnIndexer],
  ['resultLimits.releaseGroup', m.ofAReleaseGroup, m.limitOfAReleaseGroup],
];

export const flagFields: readonly (readonly [path: string, title: () => string])[] = [
  ['titleMatching.enabled', m.hideWhatHasAnotherTitle],
  ['yearMatching.enabled', m.hideWhatIsOfAnother],
  ['seasonEpisodeMatching.enabled', m.hideOtherSeasonsAndEpisodes],
  ['excludeSeasonPacks', m.hideWholeSeasons],
  ['excludeCached', m.hideWhatPlaysAtOnce],
  ['spreadServices', m.takeTheAccountsInTurn],
  ['failover.enabled', m.playTheNextWhereA],
  ['dynamicAddonFetching.enabled', m.doNotWaitForSlow],
  ['statistics.enabled', m.listHowTheAddonsDid],
  ['enableSeadex', m.markWhatSeaDexRecommendsOf],
  ['precacheNextEpisode', m.fetchTheNextEpisodeWhile],
  ['externalDownloads', m.belowEachStreamOneThat],
  ['newCatalogsDisabled', m.hideCatalogsThatAreThere],
  ['hideErrors', m.sayNothingAboutAddonsThat],
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
