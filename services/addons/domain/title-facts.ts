import { languageOfCode } from './languages.ts';
import type { TitleFacts } from './pipeline/title-request.ts';

const mostEpisodes = 3000;

/** Reads facts about a title from metadata in the format of the protocol. */
export function factsOf(meta: unknown): TitleFacts {
  const of = record(meta);
  const genres = [of['genres'], of['genre']].find((value) => Array.isArray(value));
  const runtime = /(?:(\d+)\s*h\w*\s*)?(\d+)\s*m/i.exec(text(of['runtime']));
  const years = /\d{4}\D+(\d{4})/.exec(text(of['releaseInfo']) || text(of['year']));
  const language = text(of['language']).split(',')[0]?.trim() ?? '';
  return {
    genres: Array.isArray(genres) ? genres.filter((genre) => typeof genre === 'string').slice(0, 50) : [],
    runtime: runtime === null ? undefined : Number(runtime[1] ?? 0) * 60 + Number(runtime[2]),
    released: time(of['released']),
    yearEnd: years === null ? undefined : Number(years[1]),
    language: language === '' ? undefined : (languageOfCode(language.toLowerCase()) ?? language),
    episodes: episodesOf(of['videos']),
  };
}

function episodesOf(videos: unknown): TitleFacts['episodes'] {
  if (!Array.isArray(videos)) return [];
  return videos
    .slice(0, mostEpisodes)
    .flatMap((video: unknown) => {
      const { season, episode, number, released, firstAired } = record(video);
      const place = typeof episode === 'number' ? episode : number;
      if (typeof season !== 'number' || typeof place !== 'number') return [];
      return [{ season, episode: place, released: time(released ?? firstAired) }];
    })
    .toSorted((one, other) => one.season - other.season || one.episode - other.episode);
}

function time(value: unknown): number | undefined {
  const parsed = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isFinite(parsed) ? parsed : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
