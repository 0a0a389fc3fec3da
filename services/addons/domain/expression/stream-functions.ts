import * as m from '#messages/addons-problems';
import { attributes, isCached, getSearchText } from '../stream-attributes.ts';
import { createKeywordTest } from '../keywords.ts';
import { getBitrate, type ParsedStream } from '../stream.ts';
import {
  ExpressionError,
  isList,
  formatValue,
  consumeBudget,
  toStreams,
  type ExpressionFunction,
  type Value,
} from './value.ts';

type Values = (stream: ParsedStream) => readonly string[];
type Measure = (stream: ParsedStream) => number | undefined;

const groupValues: Readonly<Record<string, Values>> = {
  resolution: attributes.Resolutions,
  quality: attributes.Qualities,
  encode: attributes.Encodes,
  type: attributes.StreamTypes,
  visualTag: attributes.VisualTags,
  audioTag: attributes.AudioTags,
  audioChannel: attributes.AudioChannels,
  language: attributes.Languages,
  subtitle: attributes.Subtitles,
  releaseGroup: attributes.ReleaseGroups,
  indexer: ({ indexer }) => [indexer ?? 'Unknown'],
  service: ({ service }) => [service?.id ?? 'none'],
};

const measures: Readonly<Record<string, Measure>> = {
  bitrate: getBitrate,
  size: ({ size }) => size,
  folderSize: ({ folderSize }) => folderSize,
  age: ({ age }) => age,
  duration: ({ duration }) => (duration > 0 ? duration : undefined),
  seeders: ({ seeders }) => seeders,
  seScore: ({ expressionScore }) => expressionScore ?? 0,
  regexScore: ({ regexScore }) => regexScore ?? 0,
};

/** Stages of the pipeline that `passthrough` can skip for a stream. */
const passthroughStages = new Set(['all', 'dedup', 'excluded', 'required', 'limit']);

/** Functions that select or measure streams of a list. */
export const streamFunctions: Readonly<Record<string, ExpressionFunction>> = {
  resolution: filterByValue(attributes.Resolutions),
  quality: filterByValue(attributes.Qualities),
  encode: filterByValue(attributes.Encodes),
  type: filterByValue(attributes.StreamTypes),
  visualTag: filterByValue(attributes.VisualTags),
  audioTag: filterByValue(attributes.AudioTags),
  audioChannels: filterByValue(attributes.AudioChannels),
  language: filterByValue(attributes.Languages),
  subtitle: filterByValue(attributes.Subtitles),
  subtitles: filterByValue(attributes.Subtitles),
  indexer: filterByValue(({ indexer }) => [indexer ?? 'Unknown']),
  service: filterByValue(({ service }) => (service === undefined ? [] : [service.id])),
  addon: filterByValue(({ addon }) => [addon.name]),
  releaseGroup: ([streams = [], ...names], scope) =>
    names.length === 0
      ? toStreams(streams).filter(({ file }) => file.releaseGroup !== undefined)
      : filterByValue(attributes.ReleaseGroups)([streams, ...names], scope),
  seeders: inRange(({ seeders }) => seeders ?? 0, Number),
  age: inRange(({ age }) => age, Number),
  size: inRange(({ size }) => size, parseBytes),
  bitrate: inRange(getBitrate, parseBitrate),
  regexScore: inRange(({ regexScore }) => regexScore ?? 0, Number),
  seScore: inRange(({ expressionScore }) => expressionScore ?? 0, Number),
  streamExpressionScore: inRange(({ expressionScore }) => expressionScore ?? 0, Number),
  regexMatchedInRange: inRange(({ regexIndex }) => regexIndex, Number),
  seMatchedInRange: inRange(({ expressionMatched }) => expressionMatched?.index, Number),
  cached: filterBy((stream) => stream.service !== undefined && isCached(stream)),
  uncached: filterBy(({ service }) => service?.cached === false),
  library: filterBy(({ library }) => library),
  seadex: ([streams = [], kind = 'all']) =>
    toStreams(streams).filter(({ seadex }) => (kind === 'best' ? seadex === 'best' : seadex !== undefined)),
  seasonPack: ([streams = [], mode = 'onlySeasons']) =>
    toStreams(streams).filter(({ file }) =>
      mode === 'seasonPack'
        ? file.seasonPack
        : (file.seasons?.length ?? 0) > 0 && (file.episodes === undefined || file.episodes.length === 0),
    ),
  multiEpisode: filterBy(({ file }) => (file.episodes?.length ?? 0) > 1),
  message: ([streams = [], mode, ...args]) => {
    const messages = toTexts(args);
    return toStreams(streams).filter(({ message }) =>
      messages.some((expectedMessage) =>
        mode === 'exact' ? message === expectedMessage : message?.includes(expectedMessage) === true,
      ),
    );
  },
  keyword: filterByKeywords,
  keywords: filterByKeywords,
  regexMatched: filterByMatch(({ regexMatched }) => (regexMatched === undefined ? [] : [regexMatched])),
  seMatched: filterByMatch(({ expressionMatched }) =>
    expressionMatched === undefined ? [] : [expressionMatched.name],
  ),
  rseMatched: filterByMatch(({ expressionsRanked }) => expressionsRanked ?? []),
  values: ([streams = [], name]) => {
    const measure = typeof name === 'string' && Object.hasOwn(measures, name) ? measures[name] : undefined;
    if (measure === undefined)
      throw new ExpressionError(() => m.valuesUnknown({ name: truncate(toTexts([name ?? '']).join()) }));
    return toStreams(streams).flatMap((stream) => measure(stream) ?? []);
  },
  negate: ([out = [], all = []]) => {
    const excluded = new Set(toStreams(out));
    return toStreams(all).filter((stream) => !excluded.has(stream));
  },
  merge: (lists) => [...new Set(lists.flatMap(toStreams))],
  slice: ([streams = [], start = 0, end]) =>
    toStreams(streams).slice(Number(start), typeof end === 'number' ? end : undefined),
  perGroup,
  passthrough: ([streams = [], ...stages], { effects }) => {
    const selected = toStreams(streams);
    const stageNames = new Set(stages.length === 0 ? ['all'] : toTexts(stages));
    for (const stage of stageNames)
      if (!passthroughStages.has(stage))
        throw new ExpressionError(() => m.passthroughUnknown({ name: truncate(stage) }));
    for (const { id } of selected)
      effects.exemptions.set(id, new Set([...(effects.exemptions.get(id) ?? []), ...stageNames]));
    return selected;
  },
  pin: ([streams = [], position = 'top', isReturned = false], { effects }) => {
    const selected = toStreams(streams);
    for (const { id } of selected) effects.pinned.set(id, position === 'bottom' ? 'bottom' : 'top');
    return isReturned === true ? selected : [];
  },
};

function filterByValue(values: Values): ExpressionFunction {
  return ([streams = [], ...args]) => {
    const allowed = new Set(toTexts(args).map((text) => text.toLowerCase()));
    if (allowed.size === 0) throw new ExpressionError(m.argumentMissing);
    return toStreams(streams).filter((stream) => values(stream).some((value) => allowed.has(value.toLowerCase())));
  };
}

function filterBy(test: (stream: ParsedStream) => boolean): ExpressionFunction {
  return ([streams = []]) => toStreams(streams).filter(test);
}

function filterByMatch(names: Values): ExpressionFunction {
  return ([streams = [], ...args]) => {
    const matches = new Set(toTexts(args));
    return toStreams(streams).filter((stream) => names(stream).some((name) => matches.size === 0 || matches.has(name)));
  };
}

function inRange(measure: Measure, parseText: (text: string) => number): ExpressionFunction {
  const parseLimit = (value: Value | undefined): number | undefined => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' ? parseText(value) : value;
    if (typeof number !== 'number' || Number.isNaN(number))
      throw new ExpressionError(() => m.notAMeasure({ value: formatValue(value) }));
    return number;
  };
  return ([streams = [], min, max]) => {
    const [from, to] = [parseLimit(min), parseLimit(max)];
    return toStreams(streams).filter((stream) => {
      const value = measure(stream);
      return value !== undefined && (from === undefined || value >= from) && (to === undefined || value <= to);
    });
  };
}

function filterByKeywords(args: readonly Value[], scope: Parameters<ExpressionFunction>[1]): Value {
  const [streams = [], ...rest] = args;
  const keywords = toTexts(rest);
  // The cost consists of the normalization of the name and the search for every word.
  const selected = toStreams(streams);
  for (const stream of selected)
    consumeBudget(scope, 8 + (getSearchText(stream).length / 4) * (1 + keywords.length / 8));
  const test = createKeywordTest(keywords);
  return selected.filter((stream) => test(stream) !== undefined);
}

/** Selects up to the given number of streams of each group, alternating between the groups. */
function perGroup(args: readonly Value[], scope: Parameters<ExpressionFunction>[1]): Value {
  const [streams = [], attribute, maxPerGroup, ...filter] = args;
  const values =
    typeof attribute === 'string' && Object.hasOwn(groupValues, attribute) ? groupValues[attribute] : undefined;
  if (values === undefined)
    throw new ExpressionError(() => m.perGroupUnknown({ name: truncate(toTexts([attribute ?? '']).join()) }));
  if (typeof maxPerGroup !== 'number' || !Number.isInteger(maxPerGroup) || maxPerGroup < 1)
    throw new ExpressionError(m.perGroupRequiresNumber);
  const allowedValues = toTexts(filter).map((text) => text.toLowerCase());
  const groups = new Map<string, ParsedStream[]>();
  for (const stream of toStreams(streams)) {
    const streamValues = values(stream).map((value) => value.toLowerCase());
    const key =
      allowedValues.length === 0
        ? streamValues[0]
        : allowedValues.find((allowedValue) => streamValues.includes(allowedValue));
    if (key === undefined) continue;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    if (group.length < maxPerGroup) group.push(stream);
  }
  const maxGroupLength = Math.max(0, ...[...groups.values()].map((group) => group.length));
  consumeBudget(scope, maxGroupLength * groups.size);
  return Array.from({ length: maxGroupLength }, (_, index) =>
    [...groups.values()].flatMap((group) => group.slice(index, index + 1)),
  ).flat();
}

function toTexts(args: readonly Value[]): readonly string[] {
  return args.flatMap((value) => (isList(value) ? toTexts(value) : typeof value === 'object' ? [] : [String(value)]));
}

function truncate(text: string): string {
  return text.slice(0, 60);
}

function parseBytes(text: string): number {
  return parseScaled(text, /^([\d.]+)\s*([kmgt]?)i?b?$/i, 1024);
}

function parseBitrate(text: string): number {
  return parseScaled(text, /^([\d.]+)\s*([kmgt]?)(?:bps|bit\/s|b\/s)?$/i, 1000);
}

function parseScaled(text: string, form: RegExp, step: number): number {
  const match = form.exec(text.trim());
  if (match === null) return NaN;
  return Number(match[1]) * step ** ['', 'k', 'm', 'g', 't'].indexOf((match[2] ?? '').toLowerCase());
}
