import { findStreamService } from '../debrid-services.ts';
import { getLanguageCode, getFlag } from '../languages.ts';
import { getBitrate, type ParsedStream } from '../stream.ts';
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

type StreamField = (streamFields: ParsedStream, values: FormatValues) => FieldValue;

const toListValue = (values: readonly string[] | undefined): FieldValue =>
  values === undefined || values.length === 0 ? null : values;
const toTextValue = (value: string | undefined): FieldValue => value ?? null;
const pad = (number: number): string => String(number).padStart(2, '0');
const formatNumberRange = (letter: string, numbers: readonly number[] | undefined): string | null => {
  const [firstNumber] = numbers ?? [];
  const lastNumber = numbers?.at(-1);
  if (firstNumber === undefined || lastNumber === undefined) return null;
  return firstNumber === lastNumber
    ? `${letter}${pad(firstNumber)}`
    : `${letter}${pad(firstNumber)}-${pad(lastNumber)}`;
};
const toNumberList = (numbers: readonly number[] | undefined): FieldValue => toListValue((numbers ?? []).map(String));

function getPreferredList(values: FormatValues, name: PreferredList): readonly string[] {
  return values.context?.preferred[name] ?? [];
}

/** Orders values by the preference of the configuration. */
function sortByPreference(items: readonly string[], order: readonly string[]): readonly string[] {
  if (order.length === 0) return items;
  const rank = (item: string): number => (order.includes(item) ? order.indexOf(item) : order.length);
  return items.toSorted((a, b) => rank(a) - rank(b));
}

const convertItems = (items: readonly string[], convert: (item: string) => string): FieldValue =>
  toListValue([...new Set(items.map(convert))]);

const americanFlag = (language: string): string => getFlag(language).replace('🇬🇧', '🇺🇸🦅');
const smallCode = (language: string): string => toSmallCapitals(getLanguageCode(language));

/** Builds the fields for languages or subtitles. Fields with the prefix `u` only contain the preferred values. */
function languageFields(
  names: Readonly<Record<'all' | 'emojis' | 'codes' | 'small', string>>,
  items: (streamFields: ParsedStream) => readonly string[],
  order: (values: FormatValues) => readonly string[],
): Record<string, StreamField> {
  const all: (streamFields: ParsedStream, values: FormatValues) => readonly string[] = (streamFields, values) =>
    sortByPreference(items(streamFields), order(values));
  const preferredItems: typeof all = (streamFields, values) => {
    const preferredValues = new Set(order(values));
    return all(streamFields, values).filter((item) => preferredValues.has(item));
  };
  const getPreferredFieldName = (name: string): string => `u${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  const converters = { emojis: getFlag, codes: getLanguageCode, small: smallCode } as const;
  const fields: Record<string, StreamField> = {
    [names.all]: (streamFields, values) => toListValue(all(streamFields, values)),
    [getPreferredFieldName(names.all)]: (streamFields, values) => toListValue(preferredItems(streamFields, values)),
  };
  for (const kind of ['emojis', 'codes', 'small'] as const) {
    fields[names[kind]] = (streamFields, values) => convertItems(all(streamFields, values), converters[kind]);
    fields[getPreferredFieldName(names[kind])] = (streamFields, values) =>
      convertItems(preferredItems(streamFields, values), converters[kind]);
  }
  return fields;
}

const languageValues = languageFields(
  { all: 'languages', emojis: 'languageEmojis', codes: 'languageCodes', small: 'smallLanguageCodes' },
  ({ file }) => file.languages,
  (values) => getPreferredList(values, 'Languages'),
);
const subtitleValues = languageFields(
  { all: 'subtitles', emojis: 'subtitleEmojis', codes: 'subtitleCodes', small: 'smallSubtitleCodes' },
  ({ file }) => file.subtitles,
  (values) => {
    const order = getPreferredList(values, 'Subtitles');
    return order.length > 0 ? order : getPreferredList(values, 'Languages');
  },
);

function normalizedScore(score: number | undefined, max: number | undefined): FieldValue {
  if (score === undefined || max === undefined || max <= 0) return null;
  return Math.max(0, Math.min(100, Math.round((score / max) * 100)));
}

const streamFields: Readonly<Record<string, StreamField>> = {
  ...languageValues,
  ...subtitleValues,
  wedontknowwhatakilometeris: ({ file }, values) =>
    convertItems(sortByPreference(file.languages, getPreferredList(values, 'Languages')), americanFlag),
  uWedontknowwhatakilometeris: ({ file }, values) =>
    convertItems(
      file.languages.filter((language) => getPreferredList(values, 'Languages').includes(language)),
      americanFlag,
    ),
  filename: ({ filename }) => toTextValue(filename),
  folderName: ({ folderName }) => toTextValue(folderName),
  size: ({ size }) => size ?? null,
  folderSize: ({ folderSize }) => folderSize ?? null,
  bitrate: (stream) => getBitrate(stream) ?? null,
  library: ({ library }) => library,
  quality: ({ file }) => toTextValue(file.quality),
  resolution: ({ file }) => toTextValue(file.resolution),
  subbed: ({ file }) => file.subbed || file.subtitles.length > 0,
  dubbed: ({ file }) => file.dubbed,
  visualTags: ({ file }, values) =>
    toListValue(sortByPreference(file.visualTags, getPreferredList(values, 'VisualTags'))),
  audioTags: ({ file }, values) => toListValue(sortByPreference(file.audioTags, getPreferredList(values, 'AudioTags'))),
  audioChannels: ({ file }, values) =>
    toListValue(sortByPreference(file.audioChannels, getPreferredList(values, 'AudioChannels'))),
  releaseGroup: ({ file }) => toTextValue(file.releaseGroup),
  encode: ({ file }) => toTextValue(file.encode),
  edition: ({ file }) => toTextValue(file.editions[0]),
  editions: ({ file }) => toListValue(file.editions),
  remastered: ({ file }) => (file.editions.some((edition) => /remaster/i.test(edition)) ? true : null),
  regraded: ({ file }) => file.regraded === true,
  repack: ({ file }) => file.repack === true,
  proper: ({ file }) => file.proper === true,
  uncensored: ({ file }) => file.uncensored === true,
  unrated: ({ file }) => file.unrated === true,
  upscaled: ({ file }) => file.visualTags.includes('Upscaled'),
  hasChapters: () => false,
  network: ({ file }) => toTextValue(file.network),
  container: ({ file }) => toTextValue(file.container),
  extension: ({ file }) => toTextValue(file.extension),
  indexer: ({ indexer }) => toTextValue(indexer),
  year: ({ file }) => toTextValue(file.year),
  title: ({ file }) => toTextValue(file.title),
  country: ({ file }) => toTextValue(file.country),
  episodeTitle: ({ file }) => toTextValue(file.episodeTitle),
  date: ({ file }) => toTextValue(file.date),
  season: ({ file }) => file.seasons?.[0] ?? null,
  seasons: ({ file }) => toNumberList(file.seasons),
  episode: ({ file }) => file.episodes?.[0] ?? null,
  episodes: ({ file }) => toNumberList(file.episodes),
  folderSeasons: ({ file }) => toNumberList(file.folderSeasons),
  folderEpisodes: ({ file }) => toNumberList(file.folderEpisodes),
  formattedSeasons: ({ file }) => formatNumberRange('S', file.seasons),
  formattedEpisodes: ({ file }) => formatNumberRange('E', file.episodes),
  formattedFolderSeasons: ({ file }) => formatNumberRange('S', file.folderSeasons),
  formattedFolderEpisodes: ({ file }) => formatNumberRange('E', file.folderEpisodes),
  seasonEpisode: ({ file }) =>
    toListValue(
      [formatNumberRange('S', file.seasons), formatNumberRange('E', file.episodes)].filter((part) => part !== null),
    ),
  seasonPack: ({ file }) => file.seasonPack,
  seeders: ({ seeders }) => seeders ?? null,
  private: (stream) => stream.private,
  freeleech: ({ freeleech }) => freeleech === true,
  age: ({ age }) => (age === undefined ? null : age < 24 ? `${String(age)}h` : `${String(Math.floor(age / 24))}d`),
  ageHours: ({ age }) => age ?? null,
  duration: ({ duration }) => (duration > 0 ? duration : null),
  infoHash: ({ infoHash }) => toTextValue(infoHash),
  type: ({ type }) => type,
  message: ({ message }) => toTextValue(message),
  proxied: ({ proxied }) => proxied,
  preloading: () => false,
  idMatched: ({ idMatched }) => idMatched === true,
  seadex: ({ seadex }) => seadex !== undefined,
  seadexBest: ({ seadex }) => seadex === 'best',
  regexMatched: ({ regexMatched, regexesRanked }) => regexMatched ?? regexesRanked?.[0] ?? null,
  rankedRegexMatched: ({ regexesRanked }) => toListValue(regexesRanked),
  regexScore: ({ regexScore }) => regexScore ?? null,
  nRegexScore: ({ regexScore }, { context }) => normalizedScore(regexScore, context?.maxRegexScore),
  seMatched: ({ expressionMatched }) => toTextValue(expressionMatched?.name),
  seScore: ({ expressionScore }) => expressionScore ?? null,
  nSeScore: ({ expressionScore }, { context }) => normalizedScore(expressionScore, context?.maxExpressionScore),
  rseMatched: ({ expressionsRanked }) => toListValue(expressionsRanked),
};

const serviceFields: Readonly<Record<string, StreamField>> = {
  id: (stream) => toTextValue(stream.service?.id),
  shortName: (stream) => toTextValue(findStreamService(stream.service?.id ?? '')?.shortName),
  name: (stream) => toTextValue(findStreamService(stream.service?.id ?? '')?.name),
  cached: (stream) => stream.service?.cached ?? null,
};

const addonFields: Readonly<Record<string, StreamField>> = {
  name: (stream) => stream.addon.name,
  presetId: (stream) => stream.addon.presetType,
  manifestUrl: (stream) => stream.addon.manifestUrl,
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
  stream: streamFields,
  service: serviceFields,
  addon: addonFields,
  config: { addonName: (_stream, { addonName }) => addonName },
  metadata: Object.fromEntries(
    metadataNames.map((name): [string, StreamField] => [
      name,
      (_stream, { context }) => context?.metadata[name] ?? null,
    ]),
  ),
  debug: {
    json: (_stream, values) => JSON.stringify(collectFields(values)),
    jsonf: (_stream, values) => JSON.stringify(collectFields(values), undefined, 2),
  },
  tools: {},
};

/**
 * Returns all fields with their values for authors of templates. Addresses of addons are omitted, because they may
 * contain keys.
 */
function collectFields(values: FormatValues): Record<string, Record<string, FieldValue>> {
  const sectionNames = ['config', 'stream', 'metadata', 'service', 'addon'];
  return Object.fromEntries(
    sectionNames.map((section) => [
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
const fieldsByName = new Map(
  Object.entries(sections).flatMap(([section, fields]) =>
    Object.entries(fields).map(([name, field]): [string, StreamField] => [`${section}.${name}`.toLowerCase(), field]),
  ),
);

/** Returns true when a section exists. */
export function isSection(section: string): boolean {
  return Object.hasOwn(sections, section.toLowerCase());
}

/** Returns true when a field exists. */
export function isField(section: string, name: string): boolean {
  return fieldsByName.has(`${section}.${name}`.toLowerCase());
}

/**
 * Returns the field of a template. Unknown fields have no value, so that templates for newer versions show no braces.
 */
export function findField(section: string, name: string): Field {
  const field = fieldsByName.get(`${section}.${name}`.toLowerCase());
  return field === undefined ? () => null : (values) => field(values.stream, values);
}
