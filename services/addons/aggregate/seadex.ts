import * as m from '#messages/addons-problems';
import { z } from 'zod';
import { findOwn } from '../../contracts/find-own.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { ResponseCache } from '../upstream/response-cache.ts';

const hourMs = 3_600_000;
const timeoutMs = 3000;
/** Duration for which a failed request is not repeated. */
const failureCacheMs = 60_000;
const mappingParameters: Readonly<Record<string, string>> = { kitsu: 'kitsu_id', mal: 'mal_id', anidb: 'anidb_id' };

const Mapping = z.object({ mappings: z.object({ anilist_id: z.number().nullish() }).nullish() });
const Entries = z.object({
  items: z.array(
    z.object({
      expand: z
        .object({
          trs: z
            .array(
              z.object({
                infoHash: z.string().nullish(),
                isBest: z.boolean().nullish(),
                releaseGroup: z.string().nullish(),
              }),
            )
            .nullish(),
        })
        .nullish(),
    }),
  ),
});
type Releases = readonly { readonly hash: string; readonly group: string; readonly best: boolean }[];

/** Releases that SeaDex lists for a title. */
export interface Recommendations {
  readonly releases: Releases;
  readonly sentence?: string;
}

/** Result when SeaDex did not respond in time. */
export const unreachable: Recommendations = {
  releases: [],
  get sentence() {
    return m.seaDexUnreachable();
  },
};

export interface SeaDexAddresses {
  /** Base address of the release list. */
  readonly list: string;
  /** Base address of the service that maps IDs of anime lists to AniList. */
  readonly mapping: string;
}

/** Marks the releases of an anime that SeaDex recommends, if the configuration uses the marks. */
export class SeaDex {
  readonly #context: Context;
  readonly #addresses: SeaDexAddresses;
  readonly #cache: ResponseCache<Releases>;

  constructor(context: Context, { list, mapping }: SeaDexAddresses) {
    this.#context = context;
    this.#addresses = { list: list.replace(/\/+$/, ''), mapping: mapping.replace(/\/+$/, '') };
    this.#cache = new ResponseCache({
      clock: context.clock,
      failureCacheMs,
      maxEntries: 500,
      freshMs: 12 * hourMs,
      staleMs: 7 * 24 * hourMs,
      isCacheable: () => true,
    });
  }

  /**
   * Returns the recommended releases of a title, if the configuration uses them. The result has a problem when SeaDex
   * was not reachable.
   */
  async findRecommendations(id: string, config: AddonConfig): Promise<Recommendations> {
    if (this.#addresses.list === '' || !usesSeaDex(config)) return { releases: [] };
    const match = /^(anilist|kitsu|mal|anidb):(\d{1,9})/.exec(id);
    if (match?.[1] === undefined || match[2] === undefined) return { releases: [] };
    const [, idType, animeId] = match;
    try {
      return {
        releases: await this.#cache.get(`${idType}:${animeId}`, () => this.#fetchReleases(idType, animeId)).response,
      };
    } catch (error) {
      this.#context.log.debug('seadex request failed', { error });
      return unreachable;
    }
  }

  async #fetchReleases(idType: string, animeId: string): Promise<Releases> {
    const anilist = idType === 'anilist' ? animeId : await this.#mapToAnilist(idType, animeId);
    if (anilist === undefined) return [];
    const query = new URLSearchParams({ filter: `alID=${anilist}`, expand: 'trs', perPage: '1', skipTotal: '1' });
    const body = await this.#json(`${this.#addresses.list}/api/collections/entries/records?${query.toString()}`);
    return Entries.parse(body).items.flatMap(({ expand }) =>
      (expand?.trs ?? []).map(({ infoHash, isBest, releaseGroup }) => ({
        hash: /^[0-9a-f]{40}$/i.test(infoHash ?? '') ? (infoHash ?? '').toLowerCase() : '',
        group: (releaseGroup ?? '').toLowerCase(),
        best: isBest === true,
      })),
    );
  }

  async #mapToAnilist(idType: string, animeId: string): Promise<string | undefined> {
    const name = findOwn(mappingParameters, idType);
    if (name === undefined || this.#addresses.mapping === '') return undefined;
    const { mappings } = Mapping.parse(await this.#json(`${this.#addresses.mapping}/mappings?${name}=${animeId}`));
    return mappings?.anilist_id ? String(mappings.anilist_id) : undefined;
  }

  async #json(url: string): Promise<unknown> {
    const reply = await this.#context.fetch(url, {
      timeoutMs,
      maxBytes: 4 * 1024 * 1024,
      trust: 'owner',
    });
    if (reply.status === 404) return { items: [], mappings: null };
    if (reply.status !== 200) throw new Error(`SeaDex responded with status ${String(reply.status)}`);
    return JSON.parse(new TextDecoder().decode(reply.body));
  }
}

/** Returns true when SeaDex is enabled, or when sort criteria, expressions or formats use it. */
function usesSeaDex(config: AddonConfig): boolean {
  if (typeof config.enableSeadex === 'boolean') return config.enableSeadex;
  const { sortCriteria, formatter } = config;
  const expressions = [
    config.includedStreamExpressions,
    config.excludedStreamExpressions,
    config.requiredStreamExpressions,
    config.preferredStreamExpressions,
    config.rankedStreamExpressions,
  ];
  return /seadex/i.test(JSON.stringify([sortCriteria, formatter, expressions]));
}

/** Marks the recommended streams. */
export function markRecommended(
  streams: readonly ParsedStream[],
  { releases }: Recommendations,
): readonly ParsedStream[] {
  return releases.length === 0 ? streams : streams.map((stream) => markStream(stream, releases));
}

function markStream(stream: ParsedStream, releases: Releases): ParsedStream {
  const group = stream.file.releaseGroup?.toLowerCase();
  const byHash = releases.filter(({ hash }) => hash !== '' && hash === stream.infoHash);
  // Private trackers publish no hash, so these releases are recognized by their group.
  const matchingReleases =
    byHash.length > 0
      ? byHash
      : releases.filter((release) => group !== undefined && group !== '' && release.group === group);
  if (matchingReleases.length === 0) return stream;
  return { ...stream, seadex: matchingReleases.some(({ best }) => best) ? 'best' : 'alternative' };
}
