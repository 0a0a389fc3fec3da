import { findLanguageByCode } from './languages.ts';
import type { TitleFacts } from './title-request.ts';
import { toRecord } from '../../contracts/is-record.ts';

const maxEpisodes = 3000;

/** Reads facts about a title from metadata in the format of the protocol. */
export function parseTitleFacts(meta: unknown): TitleFacts {
  const fields = toRecord(meta);
  const genres = [fields['genres'], fields['genre']].find((value) => Array.isArray(value));
  const runtime = /(?:(\d+)\s*h\w*\s*)?(\d+)\s*m/i.exec(toText(fields['runtime']));
  const years = /\d{4}\D+(\d{4})/.exec(toText(fields['releaseInfo']) || toText(fields['year']));
  const language = toText(fields['language']).split(',')[0]?.trim() ?? '';
  return {
    genres: Array.isArray(genres) ? genres.filter((genre) => typeof genre === 'string').slice(0, 50) : [],
    runtime: runtime === null ? undefined : Number(runtime[1] ?? 0) * 60 + Number(runtime[2]),
    released: parseDate(fields['released']),
    yearEnd: years === null ? undefined : Number(years[1]),
    language: language === '' ? undefined : (findLanguageByCode(language.toLowerCase()) ?? language),
    episodes: parseEpisodes(fields['videos']),
  };
}

function parseEpisodes(videos: unknown): TitleFacts['episodes'] {
  if (!Array.isArray(videos)) return [];
  return videos
    .slice(0, maxEpisodes)
    .flatMap((video: unknown) => {
      const { season, episode, number, released, firstAired } = toRecord(video);
      const episodeNumber = typeof episode === 'number' ? episode : number;
      if (typeof season !== 'number' || typeof episodeNumber !== 'number') return [];
      return [{ season, episode: episodeNumber, released: parseDate(released ?? firstAired) }];
    })
    .toSorted((a, b) => a.season - b.season || a.episode - b.episode);
}

function parseDate(value: unknown): number | undefined {
  const parsed = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isFinite(parsed) ? parsed : undefined;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
