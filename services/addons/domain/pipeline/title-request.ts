import { noRating, type Rating } from '../rating.ts';

/** What is asked for, as far as it is known. */
export interface Wanted {
  readonly type: string;
  readonly id: string;
  readonly anime: boolean;
  readonly season: number | undefined;
  readonly episode: number | undefined;
  readonly titles: readonly string[];
  readonly year: number | undefined;
  readonly rating: Rating;
  /** What else is known of the title; undefined where nobody looked. */
  readonly facts?: TitleFacts | undefined;
  /** Of a film; undefined where nobody knows or looked. */
  readonly digital?: DigitalRelease | undefined;
  /** When it is asked for, ms since the epoch. */
  readonly now?: number;
}

/** When a film can be had at home, and since when cinemas show it; ms since the epoch. */
export interface DigitalRelease {
  readonly dates: readonly number[];
  readonly cinema: number | undefined;
}

/** What metadata say of a title beside its name. */
export interface TitleFacts {
  readonly genres: readonly string[];
  /** Minutes. */
  readonly runtime: number | undefined;
  /** When it was first shown, ms since the epoch. */
  readonly released: number | undefined;
  readonly yearEnd: number | undefined;
  readonly language: string | undefined;
  /** Of a series, in order. */
  readonly episodes: readonly {
    readonly season: number;
    readonly episode: number;
    readonly released: number | undefined;
  }[];
}

/** Season and episode of an id such as `tt0903747:2:5` or `kitsu:7442:3`. */
export function wantedOf(type: string, id: string): Wanted {
  const parts = id.split(':');
  const anime = /^(?:kitsu|mal|anilist|anidb)$/.test(parts[0] ?? '');
  const numbers = parts
    .slice(anime ? 2 : 1)
    .map(Number)
    .filter((number) => Number.isSafeInteger(number) && number >= 0);
  const [season, episode] = anime ? [undefined, numbers[0]] : numbers.length >= 2 ? numbers : [undefined, undefined];
  return { type, id, anime, season, episode, titles: [], year: undefined, rating: noRating };
}

/** Without accents, case and signs, so that spellings of one title are equal. */
export function plainTitle(title: string): string {
  return title
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('&', 'and')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
