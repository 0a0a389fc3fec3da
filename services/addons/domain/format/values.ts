import { debridService } from '../debrid-services.ts';
import { codeOf, flagOf } from '../languages.ts';
import { bitrateOf, type ParsedStream } from '../stream.ts';

/** What a template can name: `section.field`. Null: nothing is known. */
export type FieldValue = string | number | boolean | readonly string[] | null;
export type Field = (stream: ParsedStream, config: { readonly addonName: string }) => FieldValue;

const list = (values: readonly string[]): FieldValue => (values.length === 0 ? null : values);
const pad = (number: number): string => String(number).padStart(2, '0');
const numbered = (letter: string, numbers: readonly number[] | undefined): string | null => {
  const [first] = numbers ?? [];
  const last = numbers?.at(-1);
  if (first === undefined || last === undefined) return null;
  return first === last ? `${letter}${pad(first)}` : `${letter}${pad(first)}-${pad(last)}`;
};
const ofNumbers = (numbers: readonly number[] | undefined): FieldValue => list((numbers ?? []).map(String));

const stream: Readonly<Record<string, Field>> = {
  filename: ({ filename }) => filename ?? null,
  folderName: ({ folderName }) => folderName ?? null,
  size: ({ size }) => size ?? null,
  folderSize: ({ folderSize }) => folderSize ?? null,
  bitrate: (one) => bitrateOf(one) ?? null,
  library: ({ library }) => library,
  quality: ({ file }) => file.quality ?? null,
  resolution: ({ file }) => file.resolution ?? null,
  languages: ({ file }) => list(file.languages),
  uLanguages: ({ file }) => list(file.languages),
  languageEmojis: ({ file }) => list(file.languages.map(flagOf)),
  uLanguageEmojis: ({ file }) => list(file.languages.map(flagOf)),
  languageCodes: ({ file }) => list(file.languages.map(codeOf)),
  uLanguageCodes: ({ file }) => list(file.languages.map(codeOf)),
  subtitles: ({ file }) => list(file.subtitles),
  subtitleEmojis: ({ file }) => list(file.subtitles.map(flagOf)),
  visualTags: ({ file }) => list(file.visualTags),
  audioTags: ({ file }) => list(file.audioTags),
  audioChannels: ({ file }) => list(file.audioChannels),
  releaseGroup: ({ file }) => file.releaseGroup ?? null,
  encode: ({ file }) => file.encode ?? null,
  edition: ({ file }) => file.editions[0] ?? null,
  editions: ({ file }) => list(file.editions),
  repack: ({ file }) => file.repack === true,
  proper: ({ file }) => file.proper === true,
  network: ({ file }) => file.network ?? null,
  container: ({ file }) => file.container ?? null,
  extension: ({ file }) => file.extension ?? null,
  indexer: ({ indexer }) => indexer ?? null,
  year: ({ file }) => file.year ?? null,
  title: ({ file }) => file.title ?? null,
  episodeTitle: ({ file }) => file.episodeTitle ?? null,
  season: ({ file }) => file.seasons?.[0] ?? null,
  seasons: ({ file }) => ofNumbers(file.seasons),
  episode: ({ file }) => file.episodes?.[0] ?? null,
  episodes: ({ file }) => ofNumbers(file.episodes),
  formattedSeasons: ({ file }) => numbered('S', file.seasons),
  formattedEpisodes: ({ file }) => numbered('E', file.episodes),
  seasonEpisode: ({ file }) => {
    const parts = [numbered('S', file.seasons), numbered('E', file.episodes)].filter((part) => part !== null);
    return list(parts);
  },
  seasonPack: ({ file }) => file.seasonPack,
  seeders: ({ seeders }) => seeders ?? null,
  private: (one) => one.private,
  age: ({ age }) => (age === undefined ? null : age < 24 ? `${String(age)}h` : `${String(Math.floor(age / 24))}d`),
  ageHours: ({ age }) => age ?? null,
  duration: ({ duration }) => (duration > 0 ? duration : null),
  infoHash: ({ infoHash }) => infoHash ?? null,
  type: ({ type }) => type,
  message: ({ message }) => message ?? null,
  proxied: ({ proxied }) => proxied,
  seadex: ({ seadex }) => seadex !== undefined,
  seadexBest: ({ seadex }) => seadex === 'best',
  regexMatched: ({ regexMatched }) => regexMatched ?? null,
  regexScore: ({ regexScore }) => regexScore ?? null,
  seMatched: ({ expressionMatched }) => expressionMatched?.name ?? null,
  seScore: ({ expressionScore }) => expressionScore ?? null,
  rseMatched: ({ expressionsRanked }) => list(expressionsRanked ?? []),
};

const service: Readonly<Record<string, Field>> = {
  id: (one) => one.service?.id ?? null,
  shortName: (one) => debridService(one.service?.id ?? '')?.shortName ?? null,
  name: (one) => debridService(one.service?.id ?? '')?.name ?? null,
  cached: (one) => one.service?.cached ?? null,
};

const addon: Readonly<Record<string, Field>> = {
  name: (one) => one.addon.name,
  presetId: (one) => one.addon.presetType,
  manifestUrl: (one) => one.addon.manifestUrl,
};

const sections: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  stream,
  service,
  addon,
  config: { addonName: (_stream, config) => config.addonName },
  metadata: {},
  tools: { newLine: () => '{tools.newLine}', removeLine: () => '{tools.removeLine}' },
};

/** The field a template names, undefined when there is none of this name. */
export function fieldOf(section: string, name: string): Field | undefined {
  return Object.hasOwn(sections, section) && Object.hasOwn(sections[section] ?? {}, name)
    ? sections[section]?.[name]
    : undefined;
}
