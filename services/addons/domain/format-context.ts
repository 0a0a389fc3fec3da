import type { AddonConfig } from './config.ts';
import { namesOf } from './expression/variables.ts';
import type { FieldValue, FormatContext, PreferredList } from './format/values.ts';
import type { Wanted } from './pipeline/title-request.ts';
import type { ParsedStream } from './stream.ts';
import { isRecord } from './variants/path.ts';

const lists: readonly PreferredList[] = ['Languages', 'Subtitles', 'AudioTags', 'AudioChannels', 'VisualTags'];

/**
 * Builds the values for formats that do not depend on the stream.
 *
 * @param streams All listed streams.
 */
export function formatContext(config: AddonConfig, wanted: Wanted, streams: readonly ParsedStream[]): FormatContext {
  const metadata = metadataOf(wanted, streams);
  const language = metadata['originalLanguage'];
  const preferred = Object.fromEntries(
    lists.map((name) => {
      const chosen = [config[`preferred${name}`], config[`required${name}`], config[`included${name}`]];
      const items = chosen.flatMap((list) => list ?? []);
      return [name, items.map((item) => (item === 'Original' && typeof language === 'string' ? language : item))];
    }),
  );
  return {
    metadata,
    preferred,
    maxRegexScore: highest(streams.map(({ regexScore }) => regexScore)),
    maxExpressionScore: highest(streams.map(({ expressionScore }) => expressionScore)),
  };
}

function highest(scores: readonly (number | undefined)[]): number | undefined {
  return scores.reduce<number | undefined>(
    (most, score) => (score === undefined || (most !== undefined && most >= score) ? most : score),
    undefined,
  );
}

/** Builds the fields of `metadata`. Expressions use 0 or -1 where formats use no value. */
function metadataOf(wanted: Wanted, streams: readonly ParsedStream[]): Readonly<Record<string, FieldValue>> {
  const { isAnime, hasSeaDex, hasNextEpisode, genres, season, episode, ...names } = namesOf(wanted, streams);
  const known: Record<string, FieldValue> = {};
  for (const [name, value] of Object.entries(names))
    if (typeof value === 'string' ? value !== '' : typeof value === 'number' && value > 0)
      known[name] = value as FieldValue;
  const runtime = wanted.facts?.runtime ?? null;
  return {
    ...known,
    type: wanted.type,
    isAnime: isAnime === true,
    hasSeaDex: hasSeaDex === true,
    hasNextEpisode: hasNextEpisode === true,
    titles: wanted.titles.length === 0 ? null : wanted.titles,
    genres: Array.isArray(genres) && genres.length > 0 ? (genres as readonly string[]) : null,
    // Season 0 contains specials.
    season: wanted.season ?? null,
    episode: wanted.episode ?? null,
    runtime,
    episodeRuntime: wanted.type === 'movie' ? null : runtime,
    daysSinceRelease:
      typeof names['daysSinceRelease'] === 'number' && names['daysSinceRelease'] >= 0
        ? names['daysSinceRelease']
        : null,
  };
}

const namesMetadata = /\{[^{}]*\bmetadata\.|\bmetadata\.\w/i;
const namesDuration = /\bstream\.(?:bitrate|duration)\b/i;

/**
 * Returns true when a configuration displays, filters or sorts by values that require metadata, such as the title or
 * the duration.
 */
export function needsMetadata({ formatter, bitrate, sortCriteria }: AddonConfig): boolean {
  const { definitions, definition } = formatter;
  const templates = [definitions?.custom, definition, ...Object.values(definitions?.overrides ?? {})];
  const texts = templates.flatMap((template) => (template ? [template.name, template.description] : []));
  if (texts.some((text) => namesMetadata.test(text) || namesDuration.test(text))) return true;
  if (bitrate?.global || bitrate?.resolution) return true;
  const lists = Object.values(sortCriteria).filter((list) => Array.isArray(list)) as readonly unknown[][];
  return lists.flat().some((one) => isRecord(one) && one['key'] === 'bitrate');
}

const minuteMs = 60_000;

/**
 * Adds the duration of the title to streams without one. Season packs are longer than one episode and are left
 * unchanged.
 */
export function withDuration(streams: readonly ParsedStream[], wanted: Wanted): readonly ParsedStream[] {
  const runtime = wanted.facts?.runtime;
  if (runtime === undefined || runtime <= 0) return streams;
  return streams.map((stream) => {
    const isWholePack = stream.file.seasonPack && stream.filename === undefined;
    return stream.duration > 0 || isWholePack ? stream : { ...stream, duration: runtime * minuteMs };
  });
}
