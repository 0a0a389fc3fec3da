import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { DigitalRelease } from '../domain/title-request.ts';
import { ResponseCache } from '../upstream/response-cache.ts';

const hourMs = 3_600_000;
const timeoutMs = 3000;
/** Duration for which a failed request is not repeated. */
const failureCacheMs = 60_000;
/** Release types of TMDB: cinema, and release for home use. */
const cinemaReleaseTypes = new Set([1, 2, 3]);
const homeReleaseTypes = new Set([4, 5, 6]);

const FindResult = z.object({ movie_results: z.array(z.object({ id: z.number() })).default([]) });
const ReleaseDates = z.object({
  results: z
    .array(z.object({ release_dates: z.array(z.object({ type: z.number(), release_date: z.string() })).default([]) }))
    .default([]),
});

/** Reads release dates of films for home use from The Movie Database, with the API key of a configuration. */
export class DigitalReleases {
  readonly #context: Context;
  readonly #url: string;
  readonly #cache: ResponseCache<DigitalRelease>;

  constructor(context: Context, url: string) {
    this.#context = context;
    this.#url = url.replace(/\/+$/, '');
    this.#cache = new ResponseCache({
      clock: context.clock,
      failureCacheMs,
      maxEntries: 500,
      freshMs: 6 * hourMs,
      staleMs: 24 * hourMs,
      isCacheable: () => true,
    });
  }

  /** Returns the release dates of a film, or undefined when there is no key or the request fails. */
  async findRelease(id: string, { tmdbAccessToken, tmdbApiKey }: AddonConfig): Promise<DigitalRelease | undefined> {
    const key = tmdbAccessToken || tmdbApiKey;
    if (!key || this.#url === '' || !/^tt\d+$/.test(id)) return undefined;
    try {
      // A failure because of a wrong key must not affect configurations with another key.
      const credentialHash = createHash('sha256').update(key).digest('base64url');
      const keys = { token: tmdbAccessToken || '', key: tmdbApiKey || '' };
      return await this.#cache.get(id, () => this.#fetchReleases(id, keys), credentialHash).response;
    } catch (error) {
      this.#context.log.debug('tmdb request failed', { error });
      return undefined;
    }
  }

  async #fetchReleases(id: string, keys: { readonly token: string; readonly key: string }): Promise<DigitalRelease> {
    const findResult = FindResult.parse(await this.#json(`/3/find/${id}?external_source=imdb_id`, keys));
    const [film] = findResult.movie_results;
    if (film === undefined) return { dates: [], cinema: undefined };
    const { results } = ReleaseDates.parse(await this.#json(`/3/movie/${String(film.id)}/release_dates`, keys));
    const getDates = (types: ReadonlySet<number>): readonly number[] =>
      results
        .flatMap(({ release_dates: dates }) => dates)
        .flatMap(({ type, release_date: date }) => (types.has(type) ? Date.parse(date) : []))
        .filter(Number.isFinite);
    const cinemaDates = getDates(cinemaReleaseTypes);
    return {
      dates: getDates(homeReleaseTypes),
      cinema: cinemaDates.length === 0 ? undefined : Math.min(...cinemaDates),
    };
  }

  async #json(path: string, { token, key }: { readonly token: string; readonly key: string }): Promise<unknown> {
    const url = new URL(`${this.#url}${path}`);
    if (token === '') url.searchParams.set('api_key', key);
    const reply = await this.#context.fetch(url.href, {
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      timeoutMs,
      maxBytes: 1024 * 1024,
      trust: 'owner',
    });
    if (reply.status !== 200) throw new Error(`TMDB responded with status ${String(reply.status)}`);
    return JSON.parse(new TextDecoder().decode(reply.body));
  }
}
