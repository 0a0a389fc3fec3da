import type { AddonConfig } from './config.ts';
import { debridService } from './debrid-services.ts';
import { expressionsOf } from './expression/rules.ts';
import { parseExpression } from './expression/parse.ts';
import { ExpressionError } from './expression/value.ts';
import { knowsCriterion } from './pipeline/sort.ts';
import { Problem } from '../../contracts/problem.ts';
import { withVariants } from './variants/variants.ts';

/** Members of other programs' configurations that are kept and have no effect here, and how people call them. */
const members: readonly (readonly [name: string, words: string])[] = [
  ['areYouStillThere', 'the question whether somebody is still there'],
  ['preloadStreams', 'preloading of streams'],
  ['failover', 'failover to the next stream'],
  ['cacheAndPlay', 'cache and play'],
  ['languageInference', 'guessing languages from titles'],
  ['episodeTitleMatching', 'matching of episode titles'],
  ['externalDownloads', 'links for external downloads'],
  ['autoRemoveDownloads', 'removing downloads by itself'],
  ['healthChecks', 'health checks'],
  ['rpdbApiKey', 'posters with ratings'],
  ['topPosterApiKey', 'posters with ratings'],
  ['aioratingsApiKey', 'posters with ratings'],
  ['openposterdbApiKey', 'posters with ratings'],
  ['regexOverrides', 'changes to synchronised expressions'],
  ['selOverrides', 'changes to synchronised expressions'],
  ['newCatalogsDisabled', 'hiding new catalogs'],
];

/** Sentences about what of a configuration has no effect here, for who imported it. */
export function unsupportedOf(config: AddonConfig): readonly string[] {
  const words = new Set(members.flatMap(([name, text]) => (isOn(config[name]) ? [text] : [])));
  if (Object.keys(config).some((name) => /^synced\w+Urls$/.test(name) && isOn(config[name])))
    words.add('expressions that are read from addresses');
  return [
    ...[...words].map((text) => `This configuration has ${text}, which has no effect here.`),
    ...(config.services ?? []).flatMap(({ id, enabled }) =>
      enabled !== false && debridService(id) === undefined
        ? [`${id} is no debrid service that is known here; nothing is asked of it.`]
        : [],
    ),
    ...criteriaOf(config)
      .filter((key) => !knowsCriterion(key))
      .map((key) => `Streams cannot be sorted by ${key} here; the other criteria count.`),
    ...proxyNote(config),
    ...expressionsOf(config).problems,
    ...conditionNotes(config),
    ...variantNotes(config),
  ];
}

function criteriaOf({ sortCriteria }: AddonConfig): readonly string[] {
  const lists = Object.values(sortCriteria).filter((list) => Array.isArray(list)) as readonly unknown[][];
  const keys = lists.flat().flatMap((one) => {
    const key = typeof one === 'object' && one !== null && 'key' in one ? one.key : undefined;
    return typeof key === 'string' ? [key] : [];
  });
  return [...new Set(keys)];
}

function proxyNote({ proxy }: AddonConfig): readonly string[] {
  const known = [undefined, null, '', 'builtin', 'mediaflow'];
  if (proxy?.enabled !== true || known.includes(proxy.id)) return [];
  return [`Streams go through Homeport's own proxy; ${proxy.id ?? ''} is not known here.`];
}

function conditionNotes({ groups, dynamicAddonFetching, precacheSelector }: AddonConfig): readonly string[] {
  const conditions: readonly (readonly [string, string | null | undefined])[] = [
    ...(groups?.groupings ?? []).map(
      ({ condition }, at) => [`The condition of group ${String(at + 1)}`, condition] as const,
    ),
    ['The condition that ends the wait', dynamicAddonFetching?.condition],
    ['What chooses the streams to fetch ahead', precacheSelector],
  ];
  return conditions.flatMap(([what, source]) => {
    if (!source) return [];
    try {
      parseExpression(source);
      return [];
    } catch (error) {
      if (error instanceof ExpressionError) return [`${what} has no effect. ${error.message}`];
      throw error;
    }
  });
}

function variantNotes(config: AddonConfig): readonly string[] {
  return (config.variants ?? []).flatMap((variant) => {
    if (variant.enabled === false) return [];
    const condition = isOn(variant['condition'])
      ? [`The variant ${variant.id} applies by its address alone; its condition has no effect here.`]
      : [];
    try {
      withVariants(config, variant.id);
      return condition;
    } catch (error) {
      if (error instanceof Problem) return [...condition, error.detail];
      throw error;
    }
  });
}

function isOn(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || !('enabled' in value) || value.enabled === true;
}
