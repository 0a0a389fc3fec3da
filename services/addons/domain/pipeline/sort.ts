import type { AddonConfig, SortCriterion } from '../config.ts';
import { bitrateOf, type ParsedStream } from '../stream.ts';
import { attributes, isCached, type Attribute } from './attributes.ts';
import { keywordTest } from './keywords.ts';

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
const nothing = -1;

const numbers: Readonly<Record<string, Score>> = {
  size: ({ size }) => size ?? nothing,
  seeders: ({ seeders }) => seeders ?? nothing,
  bitrate: (stream) => bitrateOf(stream) ?? nothing,
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
export function knowsCriterion(key: string): boolean {
  return [preferences, numbers].some((known) => Object.hasOwn(known, key)) || key === 'service' || key === 'keyword';
}

/** Returns the sort value of a criterion, or undefined when the criterion has no effect. */
function scoreOf(key: string, config: AddonConfig): Score | undefined {
  const attribute = Object.hasOwn(preferences, key) ? preferences[key] : undefined;
  if (attribute !== undefined) {
    const list = config[`preferred${attribute}`] ?? [];
    if (list.length === 0) return undefined;
    const places = new Map(list.map((value, at) => [value.toLowerCase(), list.length - at]));
    const values = attributes[attribute];
    return (stream) => {
      let best = 0;
      for (const value of values(stream)) best = Math.max(best, places.get(value.toLowerCase()) ?? 0);
      return best;
    };
  }
  if (key === 'service') {
    const order = (config.services ?? []).map(({ id }) => id);
    return ({ service }) => {
      const at = service === undefined ? -1 : order.indexOf(service.id);
      return at === -1 ? 0 : order.length - at;
    };
  }
  if (key === 'keyword') {
    const list = config.preferredKeywords ?? [];
    if (list.length === 0) return undefined;
    const test = keywordTest(list);
    return (stream) => (test(stream) === undefined ? 0 : 1);
  }
  return Object.hasOwn(numbers, key) ? numbers[key] : undefined;
}

function bySort(
  streams: readonly ParsedStream[],
  criteria: readonly SortCriterion[],
  config: AddonConfig,
): readonly ParsedStream[] {
  const scores = criteria.flatMap(({ key, direction }) => {
    const score = scoreOf(key, config);
    return score === undefined ? [] : [{ score, sign: direction === 'asc' ? 1 : -1 }];
  });
  if (scores.length === 0) return streams;
  const rows = streams.map((stream) => ({ stream, values: scores.map(({ score }) => score(stream)) }));
  rows.sort((one, other) => {
    for (const [at, { sign }] of scores.entries()) {
      const [left, right] = [one.values[at] ?? 0, other.values[at] ?? 0];
      if (left !== right) return left < right ? -sign : sign;
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
  const own = lists[kind.toLowerCase() as 'anime' | 'movies' | 'series'];
  const whole = own?.length ? own : lists.global;
  const pick = (part: 'cached' | 'uncached'): readonly SortCriterion[] | undefined => {
    const special = lists[`${part}${kind}`];
    if (special?.length) return special;
    const general = lists[part];
    return general?.length ? general : undefined;
  };
  const [cached, uncached] = [pick('cached'), pick('uncached')];
  let sorted: readonly ParsedStream[];
  if (cached === undefined && uncached === undefined) sorted = bySort(streams, whole, config);
  else {
    const ready = streams.filter(isCached);
    const others = streams.filter((stream) => !isCached(stream));
    sorted = [...bySort(ready, cached ?? whole, config), ...bySort(others, uncached ?? whole, config)];
  }
  if (!sorted.some(({ addon }) => addon.pinPosition !== undefined)) return sorted;
  const pinned = (where: 'top' | 'bottom' | undefined): readonly ParsedStream[] =>
    sorted.filter(({ addon }) => addon.pinPosition === where);
  return [...pinned('top'), ...pinned(undefined), ...pinned('bottom')];
}

/** Applies the result limits. Streams of addons that bypass filters are neither counted nor removed. */
export function limitStreams(
  streams: readonly ParsedStream[],
  limits: AddonConfig['resultLimits'],
  isSpared: (stream: ParsedStream) => boolean = () => false,
): readonly ParsedStream[] {
  if (limits === null || limits === undefined) return streams;
  const parts: Readonly<Record<string, (stream: ParsedStream) => string>> = {
    global: () => '',
    service: ({ service }) => service?.id ?? 'none',
    addon: ({ addon }) => addon.instanceId,
    resolution: ({ file }) => file.resolution ?? 'Unknown',
    quality: ({ file }) => file.quality ?? 'Unknown',
    streamType: ({ type }) => type,
    indexer: ({ indexer }) => indexer ?? 'Unknown',
    releaseGroup: ({ file }) => file.releaseGroup ?? 'Unknown',
  };
  const active = Object.entries(parts).flatMap(([name, keyOf]) => {
    const most = limits[name];
    return typeof most === 'number' && most > 0 ? [{ name, most, keyOf }] : [];
  });
  if (active.length === 0) return streams;
  const together = limits.mode === 'conjunctive';
  const counts = new Map<string, number>();
  return streams.filter((stream) => {
    if (stream.addon.resultPassthrough || isSpared(stream)) return true;
    const keys = together
      ? active
          .filter(({ name }) => name !== 'global')
          .map(({ keyOf }) => keyOf(stream))
          .join('\n')
      : '';
    const counters = active.map(({ name, most, keyOf }) => ({
      key: together && name !== 'global' ? `all\n${keys}` : `${name}\n${keyOf(stream)}`,
      most,
    }));
    if (counters.some(({ key, most }) => (counts.get(key) ?? 0) >= most)) return false;
    for (const key of new Set(counters.map((counter) => counter.key))) counts.set(key, (counts.get(key) ?? 0) + 1);
    return true;
  });
}
