import type { AddonConfig, SortCriterion } from '../config.ts';
import { getBitrate, type ParsedStream } from '../stream.ts';
import { attributes, isCached, type Attribute } from '../stream-attributes.ts';
import { createKeywordTest } from '../keywords.ts';

/** Value to sort by. The direction `desc` lists larger values first. */
type Score = (stream: ParsedStream) => number;

const preferences: Readonly<Record<string, Attribute>> = {
  quality: 'Qualities',
  resolution: 'Resolutions',
  language: 'Languages',
  subtitle: 'Subtitles',
  visualTag: 'VisualTags',
  audioTag: 'AudioTags',
  audioChannel: 'AudioChannels',
  streamType: 'StreamTypes',
  encode: 'Encodes',
  releaseGroup: 'ReleaseGroups',
};
const missingValue = -1;

const numberScores: Readonly<Record<string, Score>> = {
  size: ({ size }) => size ?? missingValue,
  seeders: ({ seeders }) => seeders ?? missingValue,
  bitrate: (stream) => getBitrate(stream) ?? missingValue,
  private: (stream) => (stream.private ? 1 : 0),
  cached: (stream) => (isCached(stream) ? 1 : 0),
  library: ({ library }) => (library ? 1 : 0),
  // Newer streams have larger values.
  age: ({ age }) => (age === undefined ? -Number.MAX_SAFE_INTEGER : -age),
  addon: ({ addon }) => -addon.index,
  regexPatterns: ({ regexIndex }) => (regexIndex === undefined ? -Number.MAX_SAFE_INTEGER : -regexIndex),
  regexScore: ({ regexScore }) => regexScore ?? 0,
  streamExpressionMatched: ({ expressionMatched }) =>
    expressionMatched === undefined ? -Number.MAX_SAFE_INTEGER : -expressionMatched.index,
  streamExpressionScore: ({ expressionScore }) => expressionScore ?? 0,
  seadex: ({ seadex }) => (seadex === 'best' ? 2 : seadex === undefined ? 0 : 1),
};

/** Returns true when the sort criterion is supported. */
export function isSupportedCriterion(key: string): boolean {
  return (
    [preferences, numberScores].some((criteria) => Object.hasOwn(criteria, key)) ||
    key === 'service' ||
    key === 'keyword'
  );
}

/** Returns the sort value of a criterion, or undefined when the criterion has no effect. */
function createScore(key: string, config: AddonConfig): Score | undefined {
  const attribute = Object.hasOwn(preferences, key) ? preferences[key] : undefined;
  if (attribute !== undefined) {
    const list = config[`preferred${attribute}`] ?? [];
    if (list.length === 0) return undefined;
    const ranks = new Map(list.map((value, index) => [value.toLowerCase(), list.length - index]));
    const values = attributes[attribute];
    return (stream) => {
      let best = 0;
      for (const value of values(stream)) best = Math.max(best, ranks.get(value.toLowerCase()) ?? 0);
      return best;
    };
  }
  if (key === 'service') {
    const order = (config.services ?? []).map(({ id }) => id);
    return ({ service }) => {
      const serviceIndex = service === undefined ? -1 : order.indexOf(service.id);
      return serviceIndex === -1 ? 0 : order.length - serviceIndex;
    };
  }
  if (key === 'keyword') {
    const list = config.preferredKeywords ?? [];
    if (list.length === 0) return undefined;
    const test = createKeywordTest(list);
    return (stream) => (test(stream) === undefined ? 0 : 1);
  }
  return Object.hasOwn(numberScores, key) ? numberScores[key] : undefined;
}

function sortByCriteria(
  streams: readonly ParsedStream[],
  criteria: readonly SortCriterion[],
  config: AddonConfig,
): readonly ParsedStream[] {
  const scores = criteria.flatMap(({ key, direction }) => {
    const score = createScore(key, config);
    return score === undefined ? [] : [{ score, sign: direction === 'asc' ? 1 : -1 }];
  });
  if (scores.length === 0) return streams;
  const rows = streams.map((stream) => ({ stream, values: scores.map(({ score }) => score(stream)) }));
  rows.sort((a, b) => {
    for (const [index, { sign }] of scores.entries()) {
      const [leftValue, rightValue] = [a.values[index] ?? 0, b.values[index] ?? 0];
      if (leftValue !== rightValue) return leftValue < rightValue ? -sign : sign;
    }
    return 0;
  });
  return rows.map(({ stream }) => stream);
}

/** Sorts streams by the criteria for the request. The order of equal streams is preserved. */
export function sortStreams(
  streams: readonly ParsedStream[],
  config: AddonConfig,
  { type, anime }: { readonly type: string; readonly anime: boolean },
): readonly ParsedStream[] {
  const { sortCriteria: lists } = config;
  const kind = anime ? 'Anime' : type === 'movie' ? 'Movies' : 'Series';
  const typeCriteria = lists[kind.toLowerCase() as 'anime' | 'movies' | 'series'];
  const defaultCriteria = typeCriteria?.length ? typeCriteria : lists.global;
  const getCacheCriteria = (part: 'cached' | 'uncached'): readonly SortCriterion[] | undefined => {
    const specificCriteria = lists[`${part}${kind}`];
    if (specificCriteria?.length) return specificCriteria;
    const generalCriteria = lists[part];
    return generalCriteria?.length ? generalCriteria : undefined;
  };
  const [cachedCriteria, uncachedCriteria] = [getCacheCriteria('cached'), getCacheCriteria('uncached')];
  let sorted: readonly ParsedStream[];
  if (cachedCriteria === undefined && uncachedCriteria === undefined)
    sorted = sortByCriteria(streams, defaultCriteria, config);
  else {
    const cachedStreams = streams.filter(isCached);
    const uncachedStreams = streams.filter((stream) => !isCached(stream));
    sorted = [
      ...sortByCriteria(cachedStreams, cachedCriteria ?? defaultCriteria, config),
      ...sortByCriteria(uncachedStreams, uncachedCriteria ?? defaultCriteria, config),
    ];
  }
  if (!sorted.some(({ addon }) => addon.pinPosition !== undefined)) return sorted;
  const pinned = (position: 'top' | 'bottom' | undefined): readonly ParsedStream[] =>
    sorted.filter(({ addon }) => addon.pinPosition === position);
  return [...pinned('top'), ...pinned(undefined), ...pinned('bottom')];
}

/** Applies the result limits. Streams of addons that bypass filters are neither counted nor removed. */
export function limitStreams(
  streams: readonly ParsedStream[],
  limits: AddonConfig['resultLimits'],
  isExempt: (stream: ParsedStream) => boolean = () => false,
): readonly ParsedStream[] {
  if (limits === null || limits === undefined) return streams;
  const groupings: Readonly<Record<string, (stream: ParsedStream) => string>> = {
    global: () => '',
    service: ({ service }) => service?.id ?? 'none',
    addon: ({ addon }) => addon.instanceId,
    resolution: ({ file }) => file.resolution ?? 'Unknown',
    quality: ({ file }) => file.quality ?? 'Unknown',
    streamType: ({ type }) => type,
    indexer: ({ indexer }) => indexer ?? 'Unknown',
    releaseGroup: ({ file }) => file.releaseGroup ?? 'Unknown',
  };
  const activeLimits = Object.entries(groupings).flatMap(([name, getKey]) => {
    const maxCount = limits[name];
    return typeof maxCount === 'number' && maxCount > 0 ? [{ name, maxCount, getKey }] : [];
  });
  if (activeLimits.length === 0) return streams;
  const isConjunctive = limits.mode === 'conjunctive';
  const counts = new Map<string, number>();
  return streams.filter((stream) => {
    if (stream.addon.resultPassthrough || isExempt(stream)) return true;
    const keys = isConjunctive
      ? activeLimits
          .filter(({ name }) => name !== 'global')
          .map(({ getKey }) => getKey(stream))
          .join('\n')
      : '';
    const counters = activeLimits.map(({ name, maxCount, getKey }) => ({
      key: isConjunctive && name !== 'global' ? `all\n${keys}` : `${name}\n${getKey(stream)}`,
      maxCount,
    }));
    if (counters.some(({ key, maxCount }) => (counts.get(key) ?? 0) >= maxCount)) return false;
    for (const key of new Set(counters.map((counter) => counter.key))) counts.set(key, (counts.get(key) ?? 0) + 1);
    return true;
  });
}
