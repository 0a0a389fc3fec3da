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
const unsupportedFields: readonly (readonly [name: string, words: string])[] = [
  ['areYouStillThere', 'the question whether somebody is still there'],
  ['preloadStreams', 'preloading of streams'],
  ['cacheAndPlay', 'cache and play'],
  ['languageInference', 'guessing languages from titles'],
  ['episodeTitleMatching', 'matching of episode titles'],
  ['autoRemoveDownloads', 'removing downloads by itself'],
  ['healthChecks', 'health checks'],
  ['usePosterRedirectApi', 'posters by way of this addon'],
  ['regexOverrides', 'changes to synchronised expressions'],
  ['selOverrides', 'changes to synchronised expressions'],
  ['tvdbApiKey', 'metadata of TheTVDB'],
];

/** Unsupported nested fields. */
const unsupportedNestedFields: readonly (readonly [name: string, member: string, words: string])[] = [
  ['failover', 'includeExternalFailover', 'failover to what other addons play'],
  ['deduplicator', 'merge', 'merging of what twins know'],
  ['serviceWrap', 'reconfigureService', 'other services for streams of debrid services'],
  ['proxy', 'publicIp', 'a public address of the proxy'],
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
  const featureLabels = new Set([
    ...unsupportedFields.flatMap(([name, text]) => (isOn(config[name]) ? [text] : [])),
    ...unsupportedNestedFields.flatMap(([name, member, text]) => (isOn(getMember(config[name], member)) ? [text] : [])),
  ]);
  if (Object.keys(config).some((name) => syncedAddresses.test(name) && isOn(config[name])))
    featureLabels.add('expressions that are read from addresses');
  return [
    ...(config.importNotes ?? []),
    ...[...featureLabels].map((text) => `This configuration has ${text}, which has no effect here.`),
    ...findUnknownFields(config),
    ...config.presets.flatMap((preset) =>
      preset.enabled && !isKnownPreset(preset)
        ? [
            `${preset.options.name || preset.type} is an addon of a kind that is not known here; nothing is asked of it.`,
          ]
        : [],
    ),
    ...(config.services ?? []).flatMap(({ id, enabled }) =>
      enabled !== false && debridService(id) === undefined
        ? [`${id} is no debrid service that is known here; nothing is asked of it.`]
        : [],
    ),
    ...getSortCriteria(config)
      .filter((key) => !isSupportedCriterion(key))
      .map((key) => `Streams cannot be sorted by ${key} here; the other criteria count.`),
    ...findProxyNotes(config),
    ...findFailoverNotes(config),
    ...getExpressionRules(config).problems,
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
  return [`Nothing is known here of ${names.join(', ')}; it is kept, without effect.`];
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
  return [`Streams go through Homeport's own proxy; ${proxy.id ?? ''} is not known here.`];
}

function findFailoverNotes({ failover }: AddonConfig): readonly string[] {
  return failover?.enabled === true && getFailoverLimits(failover) === undefined
    ? ['Failover is for streams of debrid services here, which this configuration leaves out of it.']
    : [];
}

function findConditionNotes({ groups, dynamicAddonFetching, precacheSelector }: AddonConfig): readonly string[] {
  const conditions: readonly (readonly [string, string | null | undefined])[] = [
    ...(groups?.groupings ?? []).map(
      ({ condition }, index) => [`The condition of group ${String(index + 1)}`, condition] as const,
    ),
    ['The condition that ends the wait', dynamicAddonFetching?.condition],
    ['What chooses the streams to fetch ahead', precacheSelector],
  ];
  return conditions.flatMap(([label, source]) => {
    if (!source) return [];
    try {
      parseExpression(source);
      return [];
    } catch (error) {
      if (error instanceof ExpressionError) return [`${label} has no effect. ${error.message}`];
      throw error;
    }
  });
}

function findVariantNotes(config: AddonConfig): readonly string[] {
  return (config.variants ?? []).flatMap((variant) => {
    if (variant.enabled === false) return [];
    const condition = isOn(variant['condition'])
      ? [`The variant ${variant.id} applies by its address alone; its condition has no effect here.`]
      : [];
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
      if (unreadable !== undefined) return [`A pattern of ${verb}RegexPatterns has no effect. ${unreadable}`];
      const problem = findMisreadProblem(source);
      return problem === undefined ? [] : [`A pattern of ${verb}RegexPatterns ${problem}`];
    }),
  );
}

function isOn(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || !('enabled' in value) || value.enabled === true;
}
