import { debridService } from '../debrid-services.ts';
import { codeOf, flagOf } from '../languages.ts';
import { bitrateOf, type ParsedStream } from '../stream.ts';
import { toSmallCapitals } from './small-capitals.ts';

/** Value of a field in a template; null when unknown. */
export type FieldValue = string | number | boolean | readonly string[] | null;

/** Lists of the configuration that define the order of values. */
export type PreferredList = 'Languages' | 'Subtitles' | 'AudioTags' | 'AudioChannels' | 'VisualTags';

/** Values that do not depend on the stream: the title and the configuration. */
export interface FormatContext {
  /** Fields of `metadata` by name; unknown fields are absent. */
  readonly metadata: Readonly<Record<string, FieldValue>>;
  readonly preferred: Readonly<Partial<Record<PreferredList, readonly string[]>>>;
  /** Highest scores of all streams in the response. */
  readonly maxRegexScore?: number | undefined;
  readonly maxExpressionScore?: number | undefined;
}

/** Values of a template. */
export interface FormatValues {
  readonly stream: ParsedStream;
  readonly addonName: string;
  readonly context?: FormatContext | undefined;
}

export type Field = (values: FormatValues) => FieldValue;

/** Modifies a value. Returns undefined for unsupported types. */
export type Modifier = (value: FieldValue, values: FormatValues) => FieldValue | undefined;

/** Returns true for known values. Blank texts and empty lists are unknown, 0 and false are known. */
export function hasValue(value: FieldValue): boolean {
  if (value === null) return false;
  if (typeof value === 'string') return /\S/.test(value);
  return !Array.isArray(value) || value.length > 0;
}

type StreamField = (stream: ParsedStream, values: FormatValues) => FieldValue;

const list = (values: readonly string[] | undefined): FieldValue =>
  values === undefined || values.length === 0 ? null : values;
const text = (value: string | undefined): FieldValue => value ?? null;
const pad = (number: number): string => String(number).padStart(2, '0');
const numbered = (letter: string, numbers: readonly number[] | undefined): string | null => {
  const [first] = numbers ?? [];
  const last = numbers?.at(-1);
  if (first === undefined || last === undefined) return null;
  return first === last ? `${letter}${pad(first)}` : `${letter}${pad(first)}-${pad(last)}`;
};
const ofNumbers = (numbers: readonly number[] | undefined): FieldValue => list((numbers ?? []).map(String));

function preferred(values: FormatValues, name: PreferredList): readonly string[] {
  return values.context?.preferred[name] ?? [];
}

/** Orders values by the preference of the configuration. */
function inOrder(items: readonly string[], order: readonly string[]): readonly string[] {
  if (order.length === 0) return items;
  const rank = (item: string): number => (order.includes(item) ? order.indexOf(item) : order.length);
  return items.toSorted((one, other) => rank(one) - rank(other));
}

const converted = (items: readonly string[], convert: (item: string) => string): FieldValue =>
  list([...new Set(items.map(convert))]);

const americanFlag = (language: string): string => flagOf(language).replace('🇬🇧', '🇺🇸🦅');
const smallCode = (language: string): string => toSmallCapitals(codeOf(language));

/** Builds the fields for languages or subtitles. Fields with the prefix `u` only contain the preferred values. */
function languageFields(
  names: Readonly<Record<'all' | 'emojis' | 'codes' | 'small', string>>,
  items: (stream: ParsedStream) => readonly string[],
  order: (values: FormatValues) => readonly string[],
): Record<string, StreamField> {
  const all: (stream: ParsedStream, values: FormatValues) => readonly string[] = (stream, values) =>
    inOrder(items(stream), order(values));
  const wanted: typeof all = (stream, values) => {
    const chosen = new Set(order(values));
    return all(stream, values).filter((item) => chosen.has(item));
  };
  const own = (name: string): string => `u${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  const kinds = { emojis: flagOf, codes: codeOf, small: smallCode } as const;
  const fields: Record<string, StreamField> = {
    [names.all]: (stream, values) => list(all(stream, values)),
    [own(names.all)]: (stream, values) => list(wanted(stream, values)),
  };
  for (const kind of ['emojis', 'codes', 'small'] as const) {
    fields[names[kind]] = (stream, values) => converted(all(stream, values), kinds[kind]);
    fields[own(names[kind])] = (stream, values) => converted(wanted(stream, values), kinds[kind]);
  }
  return fields;
}

const languages = languageFields(
  { all: 'languages', emojis: 'languageEmojis', codes: 'languageCodes', small: 'smallLanguageCodes' },
  ({ file }) => file.languages,
  (values) => preferred(values, 'Languages'),
);
const subtitles = languageFields(
  { all: 'subtitles', emojis: 'subtitleEmojis', codes: 'subtitleCodes', small: 'smallSubtitleCodes' },
  ({ file }) => file.subtitles,
  (values) => {
    const order = preferred(values, 'Subtitles');
    return order.length > 0 ? order : preferred(values, 'Languages');
  },
);

function normalizedScore(score: number | undefined, max: number | undefined): FieldValue {
  if (score === undefined || max === undefined || max <= 0) return null;
  return Math.max(0, Math.min(100, Math.round((score / max) * 100)));
}

const stream: Readonly<Record<string, StreamField>> = {
  ...languages,
  ...subtitles,
  wedontknowwhatakilometeris: ({ file }, values) =>
    converted(inOrder(file.languages, preferred(values, 'Languages')), americanFlag),
  uWedontknowwhatakilometeris: ({ file }, values) =>
    converted(
      file.languages.filter((language) => preferred(values, 'Languages').includes(language)),
      americanFlag,
    ),
  filename: ({ filename }) => text(filename),
  folderName: ({ folderName }) => text(folderName),
  size: ({ size }) => size ?? null,
  folderSize: ({ folderSize }) => folderSize ?? null,
  bitrate: (one) => bitrateOf(one) ?? null,
  library: ({ library }) => library,
  quality: ({ file }) => text(file.quality),
  resolution: ({ file }) => text(file.resolution),
  subbed: ({ file }) => file.subbed || file.subtitles.length > 0,
  dubbed: ({ file }) => file.dubbed,
  visualTags: ({ file }, values) => list(inOrder(file.visualTags, preferred(values, 'VisualTags'))),
  audioTags: ({ file }, values) => list(inOrder(file.audioTags, preferred(values, 'AudioTags'))),
  audioChannels: ({ file }, values) => list(inOrder(file.audioChannels, preferred(values, 'AudioChannels'))),
  releaseGroup: ({ file }) => text(file.releaseGroup),
  encode: ({ file }) => text(file.encode),
  edition: ({ file }) => text(file.editions[0]),
  editions: ({ file }) => list(file.editions),
  remastered: ({ file }) => (file.editions.some((edition) => /remaster/i.test(edition)) ? true : null),
  regraded: ({ file }) => file.regraded === true,
  repack: ({ file }) => file.repack === true,
  proper: ({ file }) => file.proper === true,
  uncensored: ({ file }) => file.uncensored === true,
  unrated: ({ file }) => file.unrated === true,
  upscaled: ({ file }) => file.visualTags.includes('Upscaled'),
  hasChapters: () => false,
  network: ({ file }) => text(file.network),
  container: ({ file }) => text(file.container),
  extension: ({ file }) => text(file.extension),
  indexer: ({ indexer }) => text(indexer),
  year: ({ file }) => text(file.year),
  title: ({ file }) => text(file.title),
  country: ({ file }) => text(file.country),
  episodeTitle: ({ file }) => text(file.episodeTitle),
  date: ({ file }) => text(file.date),
  season: ({ file }) => file.seasons?.[0] ?? null,
  seasons: ({ file }) => ofNumbers(file.seasons),
  episode: ({ file }) => file.episodes?.[0] ?? null,
  episodes: ({ file }) => ofNumbers(file.episodes),
  folderSeasons: ({ file }) => ofNumbers(file.folderSeasons),
  folderEpisodes: ({ file }) => ofNumbers(file.folderEpisodes),
  formattedSeasons: ({ file }) => numbered('S', file.seasons),
  formattedEpisodes: ({ file }) => numbered('E', file.episodes),
  formattedFolderSeasons: ({ file }) => numbered('S', file.folderSeasons),
  formattedFolderEpisodes: ({ file }) => numbered('E', file.folderEpisodes),
  seasonEpisode: ({ file }) =>
    list([numbered('S', file.seasons), numbered('E', file.episodes)].filter((part) => part !== null)),
  seasonPack: ({ file }) => file.seasonPack,
  seeders: ({ seeders }) => seeders ?? null,
  private: (one) => one.private,
  freeleech: ({ freeleech }) => freeleech === true,
  age: ({ age }) => (age === undefined ? null : age < 24 ? `${String(age)}h` : `${String(Math.floor(age / 24))}d`),
  ageHours: ({ age }) => age ?? null,
  duration: ({ duration }) => (duration > 0 ? duration : null),
  infoHash: ({ infoHash }) => text(infoHash),
  type: ({ type }) => type,
  message: ({ message }) => text(message),
  proxied: ({ proxied }) => proxied,
  preloading: () => false,
  idMatched: ({ idMatched }) => idMatched === true,
  seadex: ({ seadex }) => seadex !== undefined,
  seadexBest: ({ seadex }) => seadex === 'best',
  regexMatched: ({ regexMatched, regexesRanked }) => regexMatched ?? regexesRanked?.[0] ?? null,
  rankedRegexMatched: ({ regexesRanked }) => list(regexesRanked),
  regexScore: ({ regexScore }) => regexScore ?? null,
  nRegexScore: ({ regexScore }, { context }) => normalizedScore(regexScore, context?.maxRegexScore),
  seMatched: ({ expressionMatched }) => text(expressionMatched?.name),
  seScore: ({ expressionScore }) => expressionScore ?? null,
  nSeScore: ({ expressionScore }, { context }) => normalizedScore(expressionScore, context?.maxExpressionScore),
  rseMatched: ({ expressionsRanked }) => list(expressionsRanked),
};

const service: Readonly<Record<string, StreamField>> = {
  id: (one) => text(one.service?.id),
  shortName: (one) => text(debridService(one.service?.id ?? '')?.shortName),
  name: (one) => text(debridService(one.service?.id ?? '')?.name),
  cached: (one) => one.service?.cached ?? null,
};

const addon: Readonly<Record<string, StreamField>> = {
  name: (one) => one.addon.name,
  presetId: (one) => one.addon.presetType,
  manifestUrl: (one) => one.addon.manifestUrl,
};

const metadataNames = [
  'queryType',
  'type',
  'isAnime',
  'title',
  'titles',
  'year',
  'yearEnd',
  'runtime',
  'episodeRuntime',
  'genres',
  'originalLanguage',
  'country',
  'season',
  'episode',
  'absoluteEpisode',
  'relativeAbsoluteEpisode',
  'episodeTitle',
  'episodeTitles',
  'latestSeason',
  'daysSinceRelease',
  'daysSinceFirstAired',
  'daysSinceLastAired',
  'hasNextEpisode',
  'daysUntilNextEpisode',
  'anilistId',
  'malId',
  'hasSeaDex',
];

const sections: Readonly<Record<string, Readonly<Record<string, StreamField>>>> = {
  stream,
  service,
  addon,
  config: { addonName: (_stream, { addonName }) => addonName },
  metadata: Object.fromEntries(
    metadataNames.map((name): [string, StreamField] => [
      name,
      (_stream, { context }) => context?.metadata[name] ?? null,
    ]),
  ),
  debug: {
    json: (_stream, values) => JSON.stringify(everything(values)),
    jsonf: (_stream, values) => JSON.stringify(everything(values), undefined, 2),
  },
  tools: {},
};

/**
 * Returns all fields with their values for authors of templates. Addresses of addons are omitted, because they may
 * contain keys.
 */
function everything(values: FormatValues): Record<string, Record<string, FieldValue>> {
  const shown = ['config', 'stream', 'metadata', 'service', 'addon'];
  return Object.fromEntries(
    shown.map((section) => [
      section,
      Object.fromEntries(
        Object.entries(sections[section] ?? {})
          .filter(([name]) => name !== 'manifestUrl')
          .map(([name, field]) => [name, field(values.stream, values)]),
      ),
    ]),
  );
}

/** Field names are case-insensitive. */
const byName = new Map(
  Object.entries(sections).flatMap(([section, fields]) =>
    Object.entries(fields).map(([name, field]): [string, StreamField] => [`${section}.${name}`.toLowerCase(), field]),
  ),
);

/** Returns true when a section exists. */
export function isSection(section: string): boolean {
  return Object.hasOwn(sections, section.toLowerCase());
}

/**
 * Returns the field of a template. Unknown fields have no value, so that templates for newer versions show no braces.
 */
export function findField(section: string, name: string): Field {
  const field = byName.get(`${section}.${name}`.toLowerCase());
  return field === undefined ? () => null : (values) => field(values.stream, values);
}
