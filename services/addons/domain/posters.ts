import { findOwn } from '../../contracts/find-own.ts';
import type { AddonConfig } from './config.ts';
import type { Entry } from './merge-entries.ts';

/** ID of a film or series in a catalog. IDs of TMDB and TVDB require the type. */
interface TitleId {
  readonly source: 'imdb' | 'tmdb' | 'tvdb';
  readonly id: string;
}

/** Builds the documented addresses of poster services, which require a key. */
const services: Readonly<Record<string, (config: AddonConfig, title: TitleId, type: string) => string | undefined>> = {
  rpdb: ({ rpdbApiKey }, title, type) =>
    buildAddress('https://api.ratingposterdb.com', rpdbApiKey, title, type, { query: 'fallback=true' }),
  'top-poster': ({ topPosterApiKey }, title, type) =>
    buildAddress('https://api.top-streaming.stream', topPosterApiKey, title, type, { query: 'fallback=true' }),
  aioratings({ aioratingsApiKey, aioratingsProfileId }, title, type) {
    const profileId = aioratingsProfileId?.trim();
    const style = profileId === undefined || profileId === '' || profileId === 'default' ? 'poster-default' : profileId;
    return buildAddress('https://api.aioratings.com', aioratingsApiKey, title, type, { style, series: 'tv' });
  },
  openposterdb({ openposterdbApiKey, openposterdbUrl, openposterdbParameters }, title, type) {
    const server = openposterdbUrl?.trim() || 'https://openposterdb.com';
    if (!URL.canParse(server) || !/^https?:/.test(server)) return undefined;
    const query = openposterdbParameters?.trim().replace(/^[?&]+/, '') || 'fallback=true';
    return buildAddress(server.replace(/\/+$/, ''), openposterdbApiKey, title, type, { query });
  },
};

/**
 * Replaces posters by those of the selected service. Entries without a known ID and entries with another poster shape
 * are unchanged.
 */
export function addPosters(entries: readonly Entry[], type: string, config: AddonConfig): readonly Entry[] {
  return entries.map((entry) => {
    const shape = entry['posterShape'] ?? 'poster';
    const entryType = typeof entry['type'] === 'string' ? entry['type'] : type;
    const poster =
      shape === 'poster' || shape === 'regular' ? buildPosterUrl(entry['id'], entryType, config) : undefined;
    return poster === undefined ? entry : { ...entry, poster };
  });
}

function buildPosterUrl(id: unknown, type: string, config: AddonConfig): string | undefined {
  // Older configurations contain only the key.
  const service = config.posterService ?? 'rpdb';
  const title = typeof id === 'string' ? parseTitleId(id) : undefined;
  return title === undefined ? undefined : findOwn(services, service)?.(config, title, type);
}

/** Parses the ID formats of catalogs: `tt1234567`, `tmdb:123` and `tvdb:123`. */
function parseTitleId(id: string): TitleId | undefined {
  const imdb = /^tt\d{1,10}$/.exec(id)?.[0];
  if (imdb !== undefined) return { source: 'imdb', id: imdb };
  const [, source, number] = /^(tmdb|tvdb):(\d{1,10})$/.exec(id) ?? [];
  return number === undefined ? undefined : { source: source === 'tmdb' ? 'tmdb' : 'tvdb', id: number };
}

function buildAddress(
  server: string,
  apiKey: string | null | undefined,
  { source, id }: TitleId,
  type: string,
  { style = 'poster-default', series = 'series', query = '' },
): string | undefined {
  const secret = apiKey?.trim() ?? '';
  if (secret === '') return undefined;
  if (source !== 'imdb' && type !== 'movie' && type !== 'series') return undefined;
  if (source === 'tvdb' && type === 'movie') return undefined;
  const pathType = type === 'series' ? series : type;
  const name = source === 'tmdb' ? `${pathType}-${id}` : id;
  const path = [secret, source, style, `${name}.jpg`].map(encodeURIComponent).join('/');
  return `${server}/${path}${query === '' ? '' : `?${query}`}`;
}
