import { noRating, type Rating } from './rating.ts';

/** Requested title with the facts that were found. */
export interface TitleRequest {
  readonly type: string;
  readonly id: string;
  readonly anime: boolean;
  readonly season: number | undefined;
  readonly episode: number | undefined;
  readonly titles: readonly string[];
  readonly year: number | undefined;
  readonly rating: Rating;
  /** Further facts about the title; undefined when no metadata was requested. */
  readonly facts?: TitleFacts | undefined;
  /** Release dates of a film; undefined when unknown. */
  readonly digital?: DigitalRelease | undefined;
  /** Time of the request in milliseconds since the epoch. */
  readonly now?: number;
}

/** Release dates of a film for home use and in cinemas, in milliseconds since the epoch. */
export interface DigitalRelease {
  readonly dates: readonly number[];
  readonly cinema: number | undefined;
}

/** Facts about a title from its metadata. */
export interface TitleFacts {
  readonly genres: readonly string[];
  /** Runtime in minutes. */
  readonly runtime: number | undefined;
  /** First release in milliseconds since the epoch. */
  readonly released: number | undefined;
  readonly yearEnd: number | undefined;
  readonly language: string | undefined;
  /** Episodes of a series in order. */
  readonly episodes: readonly {
    readonly season: number;
    readonly episode: number;
    readonly released: number | undefined;
  }[];
}

/** Parses season and episode of an ID such as `tt0903747:2:5` or `kitsu:7442:3`. */
export function parseTitleRequest(type: string, id: string): TitleRequest {
  const segments = id.split(':');
  const anime = /^(?:kitsu|mal|anilist|anidb)$/.test(segments[0] ?? '');
  const numbers = segments
    .slice(anime ? 2 : 1)
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number >= 0);
  const [season, episode] = anime ? [undefined, numbers[0]] : numbers.length >= 2 ? numbers : [undefined, undefined];
  return { type, id, anime, season, episode, titles: [], year: undefined, rating: noRating };
}

/** Removes accents, case and punctuation, so that different spellings of a title are equal. */
export function normalizeTitle(title: string): string {
  return title
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('&', 'and')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
