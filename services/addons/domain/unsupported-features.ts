import * as m from '#messages/addons-problems';
import { AddonConfig } from './config.ts';
import { getFailoverLimits } from './config-failover.ts';
import { debridService } from './debrid-services.ts';
import { getExpressionRules } from './expression/rules.ts';
import { parseExpression } from './expression/parse.ts';
import { ExpressionError } from './expression/value.ts';
import { findMisreadProblem, findSyntaxProblem } from './pattern.ts';
import { isSupportedCriterion } from './pipeline/sort.ts';
import { isKnownPreset } from './presets.ts';
import { Problem } from '../../contracts/problem.ts';
import { applyVariants } from './variants/variants.ts';

/** Unsupported fields of configurations of other programs, which are preserved, with their labels. */
const unsupportedFields: readonly (readonly [name: string, note: () => string])[] = [
  ['areYouStillThere', m.featureStillThere],
  ['preloadStreams', m.featurePreload],
  ['cacheAndPlay', m.featureCacheAndPlay],
  ['languageInference', m.featureLanguageInference],
  ['episodeTitleMatching', m.featureEpisodeTitles],
  ['autoRemoveDownloads', m.featureAutoRemove],
  ['healthChecks', m.featureHealthChecks],
  ['usePosterRedirectApi', m.featurePosterRedirect],
  ['regexOverrides', m.featureOverrides],
  ['selOverrides', m.featureOverrides],
  ['tvdbApiKey', m.featureTvdb],
];

/** Unsupported nested fields. */
const unsupportedNestedFields: readonly (readonly [name: string, member: string, note: () => string])[] = [
  ['failover', 'includeExternalFailover', m.featureExternalFailover],
  ['deduplicator', 'merge', m.featureMerge],
  ['serviceWrap', 'reconfigureService', m.featureReconfigure],
  ['proxy', 'publicIp', m.featureProxyIp],
];
/** Fields that do not affect streams, or only belong to {@link unsupportedFields}. */
const ignoredFields = new Set([
  'encryptedPassword',
  'trusted',
  'showChanges',
  'ip',
  'addonCategoryColors',
  'checkOwned',
]);
const maxNamedFields = 20;
const patternVerbs = ['excluded', 'included', 'required', 'preferred', 'ranked'] as const;
const syncedAddresses = /^synced\w+Urls$/;

/** Returns messages about parts of a configuration that have no effect, for the user who imports it. */
export function findUnsupportedFeatures(config: AddonConfig): readonly string[] {
  const featureNotes = new Set([
    ...unsupportedFields.flatMap(([name, note]) => (isOn(config[name]) ? [note] : [])),
    ...unsupportedNestedFields.flatMap(([name, member, note]) => (isOn(getMember(config[name], member)) ? [note] : [])),
  ]);
  if (Object.keys(config).some((name) => syncedAddresses.test(name) && isOn(config[name])))
    featureNotes.add(m.featureSyncedExpressions);
  return [
    ...(config.importNotes ?? []),
    ...[...featureNotes].map((note) => note()),
    ...findUnknownFields(config),
    ...config.presets.flatMap((preset) =>
      preset.enabled && !isKnownPreset(preset)
        ? [m.presetKindUnknown({ name: preset.options.name || preset.type })]
        : [],
    ),
    ...(config.services ?? []).flatMap(({ id, enabled }) =>
      enabled !== false && debridService(id) === undefined ? [m.serviceUnknown({ id })] : [],
    ),
    ...getSortCriteria(config)
      .filter((key) => !isSupportedCriterion(key))
      .map((key) => m.sortCriterionUnknown({ key })),
    ...findProxyNotes(config),
    ...findFailoverNotes(config),
    ...getExpressionRules(config).problems.map((problem) => problem()),
    ...findConditionNotes(config),
    ...findVariantNotes(config),
    ...findPatternNotes(config),
  ];
}

function getMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Lists fields that are unknown to this service. */
function findUnknownFields(config: AddonConfig): readonly string[] {
  const labeledFields = new Set(unsupportedFields.map(([name]) => name));
  const unknown = Object.keys(config).filter(
    (name) =>
      !(Object.hasOwn(AddonConfig.shape, name) || labeledFields.has(name) || ignoredFields.has(name)) &&
      !syncedAddresses.test(name) &&
      isOn(config[name]),
  );
  if (unknown.length === 0) return [];
  const names = unknown.slice(0, maxNamedFields).map((name) => name.slice(0, 60));
  return [m.fieldsUnknown({ names: names.join(', ') })];
}

function getSortCriteria({ sortCriteria }: AddonConfig): readonly string[] {
  const lists = Object.values(sortCriteria).filter((list) => Array.isArray(list)) as readonly unknown[][];
  const keys = lists.flat().flatMap((criterion) => {
    const key = typeof criterion === 'object' && criterion !== null && 'key' in criterion ? criterion.key : undefined;
    return typeof key === 'string' ? [key] : [];
  });
  return [...new Set(keys)];
}

function findProxyNotes({ proxy }: AddonConfig): readonly string[] {
  const supportedProxies = [undefined, null, '', 'builtin', 'mediaflow'];
  if (proxy?.enabled !== true || supportedProxies.includes(proxy.id)) return [];
  return [m.proxyUnknown({ id: proxy.id ?? '' })];
}

function findFailoverNotes({ failover }: AddonConfig): readonly string[] {
  return failover?.enabled === true && getFailoverLimits(failover) === undefined ? [m.failoverWithoutServices()] : [];
}

function findConditionNotes({ groups, dynamicAddonFetching, precacheSelector }: AddonConfig): readonly string[] {
  type Describe = (parameters: { problem: string }) => string;
  const conditions: readonly (readonly [Describe, string | null | undefined])[] = [
    ...(groups?.groupings ?? []).map(({ condition }, index) => {
      const describe: Describe = ({ problem }) => m.groupConditionIgnored({ number: index + 1, problem });
      return [describe, condition] as const;
    }),
    [m.earlyEndConditionIgnored, dynamicAddonFetching?.condition],
    [m.precacheConditionIgnored, precacheSelector],
  ];
  return conditions.flatMap(([describe, source]) => {
    if (!source) return [];
    try {
      parseExpression(source);
      return [];
    } catch (error) {
      if (error instanceof ExpressionError) return [describe({ problem: error.sentence })];
      throw error;
    }
  });
}

function findVariantNotes(config: AddonConfig): readonly string[] {
  return (config.variants ?? []).flatMap((variant) => {
    if (variant.enabled === false) return [];
    const condition = isOn(variant['condition']) ? [m.variantConditionIgnored({ id: variant.id })] : [];
    try {
      applyVariants(config, variant.id);
      return condition;
    } catch (error) {
      if (error instanceof Problem) return [...condition, error.detail];
      throw error;
    }
  });
}

/** Lists patterns that are invalid or have another meaning in JavaScript. */
function findPatternNotes(config: AddonConfig): readonly string[] {
  return patternVerbs.flatMap((verb) =>
    (config[`${verb}RegexPatterns`] ?? []).flatMap((entry) => {
      const source = typeof entry === 'string' ? entry : entry.pattern;
      const unreadable = findSyntaxProblem(source);
      if (unreadable !== undefined) return [m.patternIgnored({ list: `${verb}RegexPatterns`, problem: unreadable })];
      const problem = findMisreadProblem(source);
      return problem === undefined ? [] : [m.patternDiffers({ list: `${verb}RegexPatterns`, problem })];
    }),
  );
}

function isOn(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || !('enabled' in value) || value.enabled === true;
}
