import * as m from '#messages/addons-problems';
import { z } from 'zod';
import { CatalogModification, MergedCatalog } from './config-catalogs.ts';
import { Deduplicator } from './config-deduplicator.ts';
import { expressionShape } from './config-expressions.ts';
import { Failover } from './config-failover.ts';
import { FormatConfig } from './config-format.ts';
import { matchingShape } from './config-matching.ts';
import { posterShape } from './config-posters.ts';
import { Variants } from './config-variants.ts';
import { serviceIds } from './debrid-services.ts';

/** List of bounded texts. Null is accepted because configurations of other programs contain many nulls. */
const texts = z.array(z.string().max(2000)).max(5000).nullish();
const range = z.tuple([z.number(), z.number()]).nullish();
const name = z.string().max(300);

const PresetOptions = z.looseObject({
  name: name.optional(),
  manifestUrl: z.string().max(16_384).optional(),
  url: z.string().max(16_384).optional(),
  timeout: z.number().min(1000).max(50_000).nullish(),
  resources: texts,
  mediaTypes: texts,
  pinPosition: z.enum(['top', 'bottom']).nullish().catch(null),
  /** Replaced by {@link pinPosition} in newer configurations. */
  forceToTop: z.boolean().nullish(),
  libraryAddon: z.boolean().nullish(),
  formatPassthrough: z.boolean().nullish(),
  resultPassthrough: z.boolean().nullish(),
});

const Preset = z.looseObject({
  type: z.string().max(100),
  instanceId: z.string().regex(/^[A-Za-z0-9_-]{1,60}$/, { error: m.instanceIdInvalid }),
  enabled: z.boolean().default(true),
  options: PresetOptions.default({}),
});
export type Preset = z.infer<typeof Preset>;

const Service = z.looseObject({
  id: z.string().max(40),
  enabled: z.boolean().nullish(),
  credentials: z.record(z.string().max(60), z.string().max(4096).nullish()).default({}),
});
export type ConfiguredService = z.infer<typeof Service>;

export const SortCriterion = z.looseObject({
  key: z.string().max(60),
  direction: z.enum(['asc', 'desc']).default('desc').catch('desc'),
});
export type SortCriterion = z.infer<typeof SortCriterion>;
const criteria = z.array(SortCriterion).max(100).nullish();

const typeRanges = z.looseObject({ movies: range, series: range, anime: range });
const Sizes = z.looseObject({ global: typeRanges.nullish(), resolution: z.record(z.string(), typeRanges).nullish() });

/**
 * Public configurations contain patterns of more than 3,000 characters and lists of about 200. Matching has separate
 * limits.
 */
const patternText = z.string().max(20_000);
const pattern = z.union([
  patternText,
  z.looseObject({ name: name.nullish().catch(null), pattern: patternText, score: z.number().nullish().catch(null) }),
]);
const patterns = z.array(pattern).max(2000).nullish();

const filterNames = [
  'Resolutions',
  'Qualities',
  'Languages',
  'Subtitles',
  'VisualTags',
  'AudioTags',
  'AudioChannels',
  'StreamTypes',
  'Encodes',
  'ReleaseGroups',
  'Keywords',
] as const;
const verbs = ['excluded', 'included', 'required', 'preferred'] as const;
type FilterField = `${(typeof verbs)[number]}${(typeof filterNames)[number]}`;
type PatternField = `${(typeof verbs)[number]}RegexPatterns`;
const filterShape = Object.fromEntries(
  verbs.flatMap((verb) => filterNames.map((filterName) => [`${verb}${filterName}`, texts])),
) as Record<FilterField, typeof texts>;
const patternShape = Object.fromEntries(verbs.map((verb) => [`${verb}RegexPatterns`, patterns])) as Record<
  PatternField,
  typeof patterns
>;

const limit = z.number().min(0).nullish();
/** Configuration of a user. Unknown fields are preserved. */
export const AddonConfig = z.looseObject({
  uuid: z.string().max(100).nullish(),
  /** Parts that were omitted when the configuration was imported. */
  importNotes: z.array(z.string().max(1000)).max(200).nullish(),
  addonName: name.nullish(),
  addonDescription: z.string().max(10_000).nullish(),
  addonLogo: z.string().max(2000).nullish(),
  addonBackground: z.string().max(2000).nullish(),
  addonPassword: z.string().max(500).nullish(),
  accessKey: z.string().max(500).nullish(),
  presets: z.array(Preset).max(200),
  services: z.array(Service).max(50).nullish(),
  formatter: FormatConfig,
  sortCriteria: z.looseObject({
    global: z.array(SortCriterion).max(100),
    movies: criteria,
    series: criteria,
    anime: criteria,
    cached: criteria,
    uncached: criteria,
    cachedMovies: criteria,
    cachedSeries: criteria,
    cachedAnime: criteria,
    uncachedMovies: criteria,
    uncachedSeries: criteria,
    uncachedAnime: criteria,
  }),
  ...filterShape,
  ...patternShape,
  rankedRegexPatterns: patterns,
  ...expressionShape,
  size: Sizes.nullish(),
  bitrate: Sizes.nullish(),
  excludeSeederRange: range,
  includeSeederRange: range,
  requiredSeederRange: range,
  seederRangeTypes: z.array(z.enum(['p2p', 'cached', 'uncached'])).nullish(),
  excludeAgeRange: range,
  includeAgeRange: range,
  requiredAgeRange: range,
  ageRangeTypes: texts,
  excludeCached: z.boolean().nullish(),
  excludeUncached: z.boolean().nullish(),
  excludeCachedFromAddons: texts,
  excludeCachedFromServices: texts,
  excludeCachedFromStreamTypes: texts,
  excludeCachedMode: z.enum(['or', 'and']).nullish(),
  excludeUncachedFromAddons: texts,
  excludeUncachedFromServices: texts,
  excludeUncachedFromStreamTypes: texts,
  excludeUncachedMode: z.enum(['or', 'and']).nullish(),
  excludeSeasonPacks: z.boolean().nullish(),
  ...matchingShape,
  /** API keys of The Movie Database, for release dates. */
  tmdbAccessToken: z.string().max(2000).nullish(),
  tmdbApiKey: z.string().max(500).nullish(),
  ...posterShape,
  enableSeadex: z.boolean().nullish(),
  excludedCertifications: texts,
  requiredCertifications: texts,
  excludeNudity: z.array(z.enum(['none', 'mild', 'moderate', 'severe'])).nullish(),
  resultLimits: z
    .looseObject({
      global: limit,
      service: limit,
      addon: limit,
      resolution: limit,
      quality: limit,
      streamType: limit,
      indexer: limit,
      releaseGroup: limit,
      mode: z.enum(['independent', 'conjunctive']).nullish(),
    })
    .nullish(),
  deduplicator: Deduplicator.nullish(),
  proxy: z
    .looseObject({
      enabled: z.boolean().nullish(),
      id: z.string().max(60).nullish(),
      url: z.string().max(2000).nullish(),
      publicUrl: z.string().max(2000).nullish(),
      credentials: z.string().max(2000).nullish(),
      proxiedAddons: texts,
      proxiedServices: texts,
    })
    .nullish(),
  hideErrors: z.boolean().nullish(),
  hideErrorsForResources: texts,
  statistics: z
    .looseObject({
      enabled: z.boolean().nullish(),
      position: z.enum(['top', 'bottom']).nullish(),
      statsToShow: texts,
      /** Shows the reasons of removals when no stream is left, even if statistics are disabled. */
      showFilterStatsOnNoStreams: z.boolean().nullish(),
    })
    .nullish(),
  autoPlay: z
    .looseObject({
      enabled: z.boolean().nullish(),
      method: z.string().max(60).nullish(),
      attributes: texts,
    })
    .nullish(),
  /** Duration after which the response is sent with the streams that have arrived, in milliseconds. */
  deadline: z.number().min(1000).max(60_000).nullish(),
  catalogModifications: z.array(CatalogModification).max(5000).nullish(),
  mergedCatalogs: z.array(MergedCatalog).max(500).nullish(),
  /** Hides catalogs that have no position in the configuration. */
  newCatalogsDisabled: z.boolean().nullish(),
  /** Adds an entry after each stream that opens its file in the browser. */
  externalDownloads: z.boolean().nullish(),
  variants: Variants,
  serviceWrap: z.looseObject({ enabled: z.boolean().nullish(), presets: texts, services: texts }).nullish(),
  spreadServices: z.boolean().nullish(),
  failover: Failover.nullish(),
  parentConfig: z
    .looseObject({
      uuid: z.string().max(100),
      password: z.string().max(500),
      mergeStrategies: z.record(z.string(), z.enum(['inherit', 'extend', 'override'])).nullish(),
    })
    .nullish(),
});
export type AddonConfig = z.infer<typeof AddonConfig>;

/** Returns the enabled services with credentials in the order of the configuration. */
export function getUsableServices(
  config: AddonConfig,
  findCredentials: (service: ConfiguredService) => Readonly<Record<string, string>> | undefined,
): readonly { readonly id: (typeof serviceIds)[number]; readonly credentials: Readonly<Record<string, string>> }[] {
  const knownIds = new Set<string>(serviceIds);
  const usedIds = new Set<string>();
  return (config.services ?? []).flatMap((service) => {
    if (service.enabled === false || !knownIds.has(service.id) || usedIds.has(service.id)) return [];
    usedIds.add(service.id);
    const credentials = findCredentials(service);
    return credentials === undefined ? [] : [{ id: service.id as (typeof serviceIds)[number], credentials }];
  });
}

/** Validation messages of the peer. Its tools display and compare them. */
export const peerErrorMessages = { error: z.locales.en().localeError };

/** Describes the first validation error. */
export function formatConfigError(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return m.configurationInvalid();
  const path = issue.path.map(String).join('.');
  return path === '' ? m.configurationNotObject({ reason: issue.message }) : `${path}: ${issue.message}`;
}
