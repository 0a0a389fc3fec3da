import type { Wanted } from '../pipeline/title-request.ts';
import type { ParsedStream } from '../stream.ts';
import type { Value } from './value.ts';

const day = 24 * 3_600_000;

/** Builds the variables of stream expressions. Unknown values are 0, -1 or empty, as in other tools. */
export function namesOf(wanted: Wanted, streams: readonly ParsedStream[]): Readonly<Record<string, Value>> {
  const { anime, season, episode, titles, year, facts, now = 0 } = wanted;
  const shown = (facts?.episodes ?? []).filter((one) => one.season > 0);
  const of = (one: { readonly released: number | undefined } | undefined): number => days(now, one?.released);
  const at = shown.findIndex((one) => one.season === season && one.episode === episode);
  const next = at === -1 ? undefined : shown[at + 1];
  const latestSeason = shown.at(-1)?.season ?? -1;
  const past = shown.filter(({ released }) => released !== undefined && released <= now);
  return {
    streams,
    queryType: queryType(wanted),
    isAnime: anime,
    season: season ?? -1,
    episode: episode ?? -1,
    absoluteEpisode: absolute(wanted, at),
    genres: facts?.genres ?? [],
    title: titles[0] ?? '',
    year: year ?? 0,
    yearEnd: facts?.yearEnd ?? 0,
    daysSinceRelease: days(now, shown[at]?.released ?? facts?.released),
    runtime: facts?.runtime ?? 0,
    originalLanguage: facts?.language ?? '',
    hasSeaDex: streams.some(({ seadex }) => seadex !== undefined),
    hasNextEpisode: next !== undefined,
    daysUntilNextEpisode: next?.released === undefined ? -1 : Math.max(0, Math.ceil((next.released - now) / day)),
    daysSinceFirstAired: of(shown[0]),
    daysSinceLastAired: of(past.at(-1)),
    latestSeason,
    ongoingSeason: season !== undefined && season === latestSeason && shown.length > past.length,
  };
}

/** Returns the query type: `movie`, `series`, `anime.series` and so on. */
export function queryType({ type, anime }: Pick<Wanted, 'type' | 'anime'>): string {
  return anime ? `anime.${type}` : type;
}

/** Variables that require metadata. */
const told =
  /\b(?:genres|title|year|yearEnd|daysSinceRelease|runtime|originalLanguage|hasNextEpisode|daysUntilNextEpisode|daysSinceFirstAired|daysSinceLastAired|latestSeason|ongoingSeason|absoluteEpisode)\b/;

/** Returns true when an expression uses a variable that requires metadata. */
export function namesMetadata(source: string): boolean {
  return told.test(source);
}

function absolute({ anime, episode }: Wanted, at: number): number {
  if (at !== -1) return at + 1;
  return anime ? (episode ?? -1) : -1;
}

function days(now: number, time: number | undefined): number {
  return time === undefined || time > now ? -1 : Math.floor((now - time) / day);
}
