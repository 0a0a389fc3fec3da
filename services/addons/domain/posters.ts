import { findOwn } from '../../contracts/find-own.ts';
import type { AddonConfig } from './config.ts';
import type { Entry } from './merge-entries.ts';

/** ID of a film or series in a catalog. IDs of TMDB and TVDB require the type. */
interface Title {
  readonly of: 'imdb' | 'tmdb' | 'tvdb';
  readonly id: string;
}

/** Builds the documented addresses of poster services, which require a key. */
const services: Readonly<Record<string, (config: AddonConfig, title: Title, type: string) => string | undefined>> = {
  rpdb: ({ rpdbApiKey }, title, type) =>
    addressOf('https://api.ratingposterdb.com', rpdbApiKey, title, type, { query: 'fallback=true' }),
  'top-poster': ({ topPosterApiKey }, title, type) =>
    addressOf('https://api.top-streaming.stream', topPosterApiKey, title, type, { query: 'fallback=true' }),
  aioratings({ aioratingsApiKey, aioratingsProfileId }, title, type) {
    const own = aioratingsProfileId?.trim();
    const style = own === undefined || own === '' || own === 'default' ? 'poster-default' : own;
    return addressOf('https://api.aioratings.com', aioratingsApiKey, title, type, { style, series: 'tv' });
  },
  openposterdb({ openposterdbApiKey, openposterdbUrl, openposterdbParameters }, title, type) {
    const server = openposterdbUrl?.trim() || 'https://openposterdb.com';
    if (!URL.canParse(server) || !/^https?:/.test(server)) return undefined;
    const query = openposterdbParameters?.trim().replace(/^[?&]+/, '') || 'fallback=true';
    return addressOf(server.replace(/\/+$/, ''), openposterdbApiKey, title, type, { query });
  },
};

/**
 * Replaces posters by those of the selected service. Entries without a known ID and entries with another poster shape
 * are unchanged.
 */
export function withPosters(entries: readonly Entry[], type: string, config: AddonConfig): readonly Entry[] {
  return entries.map((entry) => {
    const shape = entry['posterShape'] ?? 'poster';
    const kind = typeof entry['type'] === 'string' ? entry['type'] : type;
    const poster = shape === 'poster' || shape === 'regular' ? posterOf(entry['id'], kind, config) : undefined;
    return poster === undefined ? entry : { ...entry, poster };
  });
}

function posterOf(id: unknown, type: string, config: AddonConfig): string | undefined {
  // Older configurations contain only the key.
  const service = config.posterService ?? 'rpdb';
  const title = typeof id === 'string' ? titleOf(id) : undefined;
  return title === undefined ? undefined : findOwn(services, service)?.(config, title, type);
}

/** Parses the ID formats of catalogs: `tt1234567`, `tmdb:123` and `tvdb:123`. */
function titleOf(id: string): Title | undefined {
  const imdb = /^tt\d{1,10}$/.exec(id)?.[0];
  if (imdb !== undefined) return { of: 'imdb', id: imdb };
  const [, of, number] = /^(tmdb|tvdb):(\d{1,10})$/.exec(id) ?? [];
  return number === undefined ? undefined : { of: of === 'tmdb' ? 'tmdb' : 'tvdb', id: number };
}

function addressOf(
  server: string,
  given: string | null | undefined,
  { of, id }: Title,
  type: string,
  { style = 'poster-default', series = 'series', query = '' },
): string | undefined {
  const secret = given?.trim() ?? '';
  if (secret === '') return undefined;
  if (of !== 'imdb' && type !== 'movie' && type !== 'series') return undefined;
  if (of === 'tvdb' && type === 'movie') return undefined;
  const kind = type === 'series' ? series : type;
  const name = of === 'tmdb' ? `${kind}-${id}` : id;
  const path = [secret, of, style, `${name}.jpg`].map(encodeURIComponent).join('/');
  return `${server}/${path}${query === '' ? '' : `?${query}`}`;
}
