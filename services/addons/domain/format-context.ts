import type { AddonConfig } from './config.ts';
import { buildVariables } from './expression/variables.ts';
import type { FieldValue, FormatContext, PreferredList } from './format/values.ts';
import type { TitleRequest } from './title-request.ts';
import type { ParsedStream } from './stream.ts';
import { isRecord } from '../../contracts/is-record.ts';

const preferredLists: readonly PreferredList[] = ['Languages', 'Subtitles', 'AudioTags', 'AudioChannels', 'VisualTags'];

/**
 * Builds the values for formats that do not depend on the stream.
 *
 * @param streams All listed streams.
 */
export function buildFormatContext(
  config: AddonConfig,
  titleRequest: TitleRequest,
  streams: readonly ParsedStream[],
): FormatContext {
  const metadata = buildMetadata(titleRequest, streams);
  const language = metadata['originalLanguage'];
  const preferred = Object.fromEntries(
    preferredLists.map((name) => {
      const configuredLists = [config[`preferred${name}`], config[`required${name}`], config[`included${name}`]];
      const items = configuredLists.flatMap((list) => list ?? []);
      return [name, items.map((item) => (item === 'Original' && typeof language === 'string' ? language : item))];
    }),
  );
  return {
    metadata,
    preferred,
    maxRegexScore: findMax(streams.map(({ regexScore }) => regexScore)),
    maxExpressionScore: findMax(streams.map(({ expressionScore }) => expressionScore)),
  };
}

function findMax(scores: readonly (number | undefined)[]): number | undefined {
  return scores.reduce<number | undefined>(
    (currentMax, score) =>
      score === undefined || (currentMax !== undefined && currentMax >= score) ? currentMax : score,
    undefined,
  );
}

/** Builds the fields of `metadata`. Expressions use 0 or -1 where formats use no value. */
function buildMetadata(
  titleRequest: TitleRequest,
  streams: readonly ParsedStream[],
): Readonly<Record<string, FieldValue>> {
  const { isAnime, hasSeaDex, hasNextEpisode, genres, season, episode, ...variables } = buildVariables(
    titleRequest,
    streams,
  );
  const knownFields: Record<string, FieldValue> = {};
  for (const [name, value] of Object.entries(variables))
    if (typeof value === 'string' ? value !== '' : typeof value === 'number' && value > 0)
      knownFields[name] = value as FieldValue;
  const runtime = titleRequest.facts?.runtime ?? null;
  return {
    ...knownFields,
    type: titleRequest.type,
    isAnime: isAnime === true,
    hasSeaDex: hasSeaDex === true,
    hasNextEpisode: hasNextEpisode === true,
    titles: titleRequest.titles.length === 0 ? null : titleRequest.titles,
    genres: Array.isArray(genres) && genres.length > 0 ? (genres as readonly string[]) : null,
    // Season 0 contains specials.
    season: titleRequest.season ?? null,
    episode: titleRequest.episode ?? null,
    runtime,
    episodeRuntime: titleRequest.type === 'movie' ? null : runtime,
    daysSinceRelease:
      typeof variables['daysSinceRelease'] === 'number' && variables['daysSinceRelease'] >= 0
        ? variables['daysSinceRelease']
        : null,
  };
}

const metadataPattern = /\{[^{}]*\bmetadata\.|\bmetadata\.\w/i;
const durationPattern = /\bstream\.(?:bitrate|duration)\b/i;

/**
 * Returns true when a configuration displays, filters or sorts by values that require metadata, such as the title or
 * the duration.
 */
export function needsMetadata({ formatter, bitrate, sortCriteria }: AddonConfig): boolean {
  const { definitions, definition } = formatter;
  const templates = [definitions?.custom, definition, ...Object.values(definitions?.overrides ?? {})];
  const texts = templates.flatMap((template) => (template ? [template.name, template.description] : []));
  if (texts.some((text) => metadataPattern.test(text) || durationPattern.test(text))) return true;
  if (bitrate?.global || bitrate?.resolution) return true;
  const lists = Object.values(sortCriteria).filter((list) => Array.isArray(list)) as readonly unknown[][];
  return lists.flat().some((criterion) => isRecord(criterion) && criterion['key'] === 'bitrate');
}

const minuteMs = 60_000;

/**
 * Adds the duration of the title to streams without one. Season packs are longer than one episode and are left
 * unchanged.
 */
export function addDuration(streams: readonly ParsedStream[], titleRequest: TitleRequest): readonly ParsedStream[] {
  const runtime = titleRequest.facts?.runtime;
  if (runtime === undefined || runtime <= 0) return streams;
  return streams.map((stream) => {
    const isWholePack = stream.file.seasonPack && stream.filename === undefined;
    return stream.duration > 0 || isWholePack ? stream : { ...stream, duration: runtime * minuteMs };
  });
}
