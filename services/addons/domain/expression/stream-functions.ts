import { attributes, isCached, searchedText } from '../pipeline/attributes.ts';
import { keywordTest } from '../pipeline/keywords.ts';
import { bitrateOf, type ParsedStream } from '../stream.ts';
import { ExpressionError, isList, printed, spend, streamsIn, type ExpressionFunction, type Value } from './value.ts';

type Values = (stream: ParsedStream) => readonly string[];
type Measure = (stream: ParsedStream) => number | undefined;

const grouped: Readonly<Record<string, Values>> = {
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
  bitrate: bitrateOf,
  size: ({ size }) => size,
  folderSize: ({ folderSize }) => folderSize,
  age: ({ age }) => age,
  duration: ({ duration }) => (duration > 0 ? duration : undefined),
  seeders: ({ seeders }) => seeders,
  seScore: ({ expressionScore }) => expressionScore ?? 0,
  regexScore: ({ regexScore }) => regexScore ?? 0,
};

/** Stages of the pipeline that `passthrough` can skip for a stream. */
const stagesPassed = new Set(['all', 'dedup', 'excluded', 'required', 'limit']);

/** Functions that select or measure streams of a list. */
export const streamFunctions: Readonly<Record<string, ExpressionFunction>> = {
  resolution: hasOne(attributes.Resolutions),
  quality: hasOne(attributes.Qualities),
  encode: hasOne(attributes.Encodes),
  type: hasOne(attributes.StreamTypes),
  visualTag: hasOne(attributes.VisualTags),
  audioTag: hasOne(attributes.AudioTags),
  audioChannels: hasOne(attributes.AudioChannels),
  language: hasOne(attributes.Languages),
  subtitle: hasOne(attributes.Subtitles),
  subtitles: hasOne(attributes.Subtitles),
  indexer: hasOne(({ indexer }) => [indexer ?? 'Unknown']),
  service: hasOne(({ service }) => (service === undefined ? [] : [service.id])),
  addon: hasOne(({ addon }) => [addon.name]),
  releaseGroup: ([streams = [], ...names], scope) =>
    names.length === 0
      ? streamsIn(streams).filter(({ file }) => file.releaseGroup !== undefined)
      : hasOne(attributes.ReleaseGroups)([streams, ...names], scope),
  seeders: within(({ seeders }) => seeders ?? 0, Number),
  age: within(({ age }) => age, Number),
  size: within(({ size }) => size, bytes),
  bitrate: within(bitrateOf, bitsPerSecond),
  regexScore: within(({ regexScore }) => regexScore ?? 0, Number),
  seScore: within(({ expressionScore }) => expressionScore ?? 0, Number),
  streamExpressionScore: within(({ expressionScore }) => expressionScore ?? 0, Number),
  regexMatchedInRange: within(({ regexIndex }) => regexIndex, Number),
  seMatchedInRange: within(({ expressionMatched }) => expressionMatched?.index, Number),
  cached: choosing((stream) => stream.service !== undefined && isCached(stream)),
  uncached: choosing(({ service }) => service?.cached === false),
  library: choosing(({ library }) => library),
  seadex: ([streams = [], kind = 'all']) =>
    streamsIn(streams).filter(({ seadex }) => (kind === 'best' ? seadex === 'best' : seadex !== undefined)),
  seasonPack: ([streams = [], mode = 'onlySeasons']) =>
    streamsIn(streams).filter(({ file }) =>
      mode === 'seasonPack'
        ? file.seasonPack
        : (file.seasons?.length ?? 0) > 0 && (file.episodes === undefined || file.episodes.length === 0),
    ),
  multiEpisode: choosing(({ file }) => (file.episodes?.length ?? 0) > 1),
  message: ([streams = [], mode, ...given]) => {
    const wanted = texts(given);
    return streamsIn(streams).filter(({ message }) =>
      wanted.some((one) => (mode === 'exact' ? message === one : message?.includes(one) === true)),
    );
  },
  keyword: named,
  keywords: named,
  regexMatched: matchedBy(({ regexMatched }) => (regexMatched === undefined ? [] : [regexMatched])),
  seMatched: matchedBy(({ expressionMatched }) => (expressionMatched === undefined ? [] : [expressionMatched.name])),
  rseMatched: matchedBy(({ expressionsRanked }) => expressionsRanked ?? []),
  values: ([streams = [], name]) => {
    const measure = typeof name === 'string' && Object.hasOwn(measures, name) ? measures[name] : undefined;
    if (measure === undefined) throw new ExpressionError(`values() knows no ${shortened(texts([name ?? '']).join())}.`);
    return streamsIn(streams).flatMap((stream) => measure(stream) ?? []);
  },
  negate: ([out = [], all = []]) => {
    const gone = new Set(streamsIn(out));
    return streamsIn(all).filter((stream) => !gone.has(stream));
  },
  merge: (lists) => [...new Set(lists.flatMap(streamsIn))],
  slice: ([streams = [], start = 0, end]) =>
    streamsIn(streams).slice(Number(start), typeof end === 'number' ? end : undefined),
  perGroup,
  passthrough: ([streams = [], ...stages], { marks }) => {
    const chosen = streamsIn(streams);
    const given = new Set(stages.length === 0 ? ['all'] : texts(stages));
    for (const stage of given)
      if (!stagesPassed.has(stage)) throw new ExpressionError(`passthrough() knows no ${shortened(stage)}.`);
    for (const { id } of chosen) marks.spared.set(id, new Set([...(marks.spared.get(id) ?? []), ...given]));
    return chosen;
  },
  pin: ([streams = [], position = 'top', back = false], { marks }) => {
    const chosen = streamsIn(streams);
    for (const { id } of chosen) marks.pinned.set(id, position === 'bottom' ? 'bottom' : 'top');
    return back === true ? chosen : [];
  },
};

function hasOne(values: Values): ExpressionFunction {
  return ([streams = [], ...given]) => {
    const wanted = new Set(texts(given).map((text) => text.toLowerCase()));
    if (wanted.size === 0) throw new ExpressionError('A function that chooses needs to know what.');
    return streamsIn(streams).filter((stream) => values(stream).some((value) => wanted.has(value.toLowerCase())));
  };
}

function choosing(test: (stream: ParsedStream) => boolean): ExpressionFunction {
  return ([streams = []]) => streamsIn(streams).filter(test);
}

function matchedBy(names: Values): ExpressionFunction {
  return ([streams = [], ...given]) => {
    const wanted = new Set(texts(given));
    return streamsIn(streams).filter((stream) => names(stream).some((name) => wanted.size === 0 || wanted.has(name)));
  };
}

function within(measure: Measure, read: (text: string) => number): ExpressionFunction {
  const edge = (value: Value | undefined): number | undefined => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' ? read(value) : value;
    if (typeof number !== 'number' || Number.isNaN(number))
      throw new ExpressionError(`${printed(value)} is no measure.`);
    return number;
  };
  return ([streams = [], least, most]) => {
    const [from, to] = [edge(least), edge(most)];
    return streamsIn(streams).filter((stream) => {
      const value = measure(stream);
      return value !== undefined && (from === undefined || value >= from) && (to === undefined || value <= to);
    });
  };
}

function named(given: readonly Value[], scope: Parameters<ExpressionFunction>[1]): Value {
  const [streams = [], ...rest] = given;
  const words = texts(rest);
  // The cost consists of the normalization of the name and the search for every word.
  const chosen = streamsIn(streams);
  for (const stream of chosen) spend(scope, 8 + (searchedText(stream).length / 4) * (1 + words.length / 8));
  const test = keywordTest(words);
  return chosen.filter((stream) => test(stream) !== undefined);
}

/** Selects up to the given number of streams of each group, alternating between the groups. */
function perGroup(given: readonly Value[], scope: Parameters<ExpressionFunction>[1]): Value {
  const [streams = [], attribute, most, ...filter] = given;
  const values = typeof attribute === 'string' && Object.hasOwn(grouped, attribute) ? grouped[attribute] : undefined;
  if (values === undefined)
    throw new ExpressionError(`perGroup() knows no ${shortened(texts([attribute ?? '']).join())}.`);
  if (typeof most !== 'number' || !Number.isInteger(most) || most < 1)
    throw new ExpressionError('perGroup() needs a number of streams.');
  const wanted = texts(filter).map((text) => text.toLowerCase());
  const groups = new Map<string, ParsedStream[]>();
  for (const stream of streamsIn(streams)) {
    const own = values(stream).map((value) => value.toLowerCase());
    const key = wanted.length === 0 ? own[0] : wanted.find((one) => own.includes(one));
    if (key === undefined) continue;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    if (group.length < most) group.push(stream);
  }
  const longest = Math.max(0, ...[...groups.values()].map((group) => group.length));
  spend(scope, longest * groups.size);
  return Array.from({ length: longest }, (_, at) =>
    [...groups.values()].flatMap((group) => group.slice(at, at + 1)),
  ).flat();
}

function texts(given: readonly Value[]): readonly string[] {
  return given.flatMap((value) => (isList(value) ? texts(value) : typeof value === 'object' ? [] : [String(value)]));
}

function shortened(text: string): string {
  return text.slice(0, 60);
}

function bytes(text: string): number {
  return scaled(text, /^([\d.]+)\s*([kmgt]?)i?b?$/i, 1024);
}

function bitsPerSecond(text: string): number {
  return scaled(text, /^([\d.]+)\s*([kmgt]?)(?:bps|bit\/s|b\/s)?$/i, 1000);
}

function scaled(text: string, form: RegExp, step: number): number {
  const found = form.exec(text.trim());
  if (found === null) return NaN;
  return Number(found[1]) * step ** ['', 'k', 'm', 'g', 't'].indexOf((found[2] ?? '').toLowerCase());
}
