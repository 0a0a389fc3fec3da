import type { TitleRequest } from '../title-request.ts';
import type { ParsedStream } from '../stream.ts';
import type { Value } from './value.ts';

const dayMs = 24 * 3_600_000;

/** Builds the variables of stream expressions. Unknown values are 0, -1 or empty, as in other tools. */
export function buildVariables(
  titleRequest: TitleRequest,
  streams: readonly ParsedStream[],
): Readonly<Record<string, Value>> {
  const { anime, season, episode, titles, year, facts, now = 0 } = titleRequest;
  const regularEpisodes = (facts?.episodes ?? []).filter((entry) => entry.season > 0);
  const daysSinceEpisode = (releasedEpisode: { readonly released: number | undefined } | undefined): number =>
    getDaysSince(now, releasedEpisode?.released);
  const episodeIndex = regularEpisodes.findIndex((entry) => entry.season === season && entry.episode === episode);
  const nextEpisode = episodeIndex === -1 ? undefined : regularEpisodes[episodeIndex + 1];
  const latestSeason = regularEpisodes.at(-1)?.season ?? -1;
  const releasedEpisodes = regularEpisodes.filter(({ released }) => released !== undefined && released <= now);
  return {
    streams,
    queryType: getQueryType(titleRequest),
    isAnime: anime,
    season: season ?? -1,
    episode: episode ?? -1,
    absoluteEpisode: getAbsoluteEpisode(titleRequest, episodeIndex),
    genres: facts?.genres ?? [],
    title: titles[0] ?? '',
    year: year ?? 0,
    yearEnd: facts?.yearEnd ?? 0,
    daysSinceRelease: getDaysSince(now, regularEpisodes[episodeIndex]?.released ?? facts?.released),
    runtime: facts?.runtime ?? 0,
    originalLanguage: facts?.language ?? '',
    hasSeaDex: streams.some(({ seadex }) => seadex !== undefined),
    hasNextEpisode: nextEpisode !== undefined,
    daysUntilNextEpisode:
      nextEpisode?.released === undefined ? -1 : Math.max(0, Math.ceil((nextEpisode.released - now) / dayMs)),
    daysSinceFirstAired: daysSinceEpisode(regularEpisodes[0]),
    daysSinceLastAired: daysSinceEpisode(releasedEpisodes.at(-1)),
    latestSeason,
    ongoingSeason: season !== undefined && season === latestSeason && regularEpisodes.length > releasedEpisodes.length,
  };
}

/** Returns the query type: `movie`, `series`, `anime.series` and so on. */
export function getQueryType({ type, anime }: Pick<TitleRequest, 'type' | 'anime'>): string {
  return anime ? `anime.${type}` : type;
}

/** Variables that require metadata. */
const metadataVariables = [
  'genres',
  'title',
  'year',
  'yearEnd',
  'daysSinceRelease',
  'runtime',
  'originalLanguage',
  'hasNextEpisode',
  'daysUntilNextEpisode',
  'daysSinceFirstAired',
  'daysSinceLastAired',
  'latestSeason',
  'ongoingSeason',
  'absoluteEpisode',
];
const metadataPattern = new RegExp(String.raw`\b(?:${metadataVariables.join('|')})\b`);

/** Returns true when an expression uses a variable that requires metadata. */
export function usesMetadata(source: string): boolean {
  return metadataPattern.test(source);
}

function getAbsoluteEpisode({ anime, episode }: TitleRequest, episodeIndex: number): number {
  if (episodeIndex !== -1) return episodeIndex + 1;
  return anime ? (episode ?? -1) : -1;
}

function getDaysSince(now: number, timestamp: number | undefined): number {
  return timestamp === undefined || timestamp > now ? -1 : Math.floor((now - timestamp) / dayMs);
}
