import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { usesMetadata } from '../domain/expression/variables.ts';
import { needsMetadata } from '../domain/format-context.ts';
import { usesReleaseDates } from '../domain/pipeline/release-filter.ts';
import type { TitleFacts, TitleRequest } from '../domain/title-request.ts';
import { usesRating, noRating, parseRating, type Rating } from '../domain/rating.ts';
import { parseTitleFacts } from '../domain/title-facts.ts';
import { ResponseCache } from '../upstream/response-cache.ts';

const dayMs = 24 * 3_600_000;
const timeoutMs = 3000;
/** Duration for which a failed request is not repeated. */
const failureCacheMs = 60_000;
/** Estimated memory use of a title and of each episode. */
const titleBytes = 1000;
const episodeBytes = 100;
const maxBytes = 8_000_000;

interface TitleMetadata {
  readonly titles: readonly string[];
  readonly year: number | undefined;
  readonly rating: Rating;
  readonly facts: TitleFacts | undefined;
}

/** Reads titles, years and facts from an addon with metadata, if the configuration uses them. */
export class TitleLookup {
  readonly #context: Context;
  readonly #url: string;
  readonly #cache: ResponseCache<TitleMetadata>;

  constructor(context: Context, url: string) {
    this.#context = context;
    this.#url = url.replace(/\/+(?:manifest\.json)?$/, '');
    this.#cache = new ResponseCache({
      clock: context.clock,
      failureCacheMs,
      maxEntries: 1000,
      freshMs: dayMs,
      staleMs: 7 * dayMs,
      isCacheable: ({ titles }) => titles.length > 0,
      getWeight: ({ facts }) => titleBytes + (facts?.episodes.length ?? 0) * episodeBytes,
      maxWeight: maxBytes,
    });
  }

  /** Adds title, year and age rating if the configuration uses them. Without a response the filters have no effect. */
  async addMetadata(titleRequest: TitleRequest, config: AddonConfig): Promise<TitleRequest> {
    return this.#isNeeded(titleRequest, config)
      ? { ...titleRequest, ...(await this.findMetadata(titleRequest)) }
      : titleRequest;
  }

  #isNeeded(titleRequest: TitleRequest, config: AddonConfig): boolean {
    const { titleMatching, yearMatching } = config;
    if (titleMatching?.enabled === true || yearMatching?.enabled === true) return true;
    return (
      needsMetadata(config) ||
      usesRating(config) ||
      usesReleaseDates(config, titleRequest) ||
      expressionsUseMetadata(config)
    );
  }

  async findMetadata({ type, id }: Pick<TitleRequest, 'type' | 'id'>): Promise<TitleMetadata> {
    const emptyTitle = { titles: [], year: undefined, rating: noRating, facts: undefined };
    const [imdbId = ''] = id.split(':');
    if (this.#url === '' || !/^tt\d+$/.test(imdbId)) return emptyTitle;
    const url = `${this.#url}/meta/${encodeURIComponent(type)}/${imdbId}.json`;
    try {
      return await this.#cache.get(url, () => this.#fetchTitle(url)).response;
    } catch {
      // Filters without a title let all streams pass.
      return emptyTitle;
    }
  }

  async #fetchTitle(url: string): Promise<TitleMetadata> {
    const reply = await this.#context.fetch(url, { timeoutMs, maxBytes: 4 * 1024 * 1024, trust: 'owner' });
    const body = JSON.parse(new TextDecoder().decode(reply.body)) as {
      meta?: { name?: unknown; year?: unknown; releaseInfo?: unknown };
    };
    const { name, year, releaseInfo } = body.meta ?? {};
    const yearMatch = /\d{4}/.exec(
      typeof year === 'string' ? year : typeof releaseInfo === 'string' ? releaseInfo : '',
    );
    return {
      titles: typeof name === 'string' ? [name] : [],
      year: yearMatch === null ? undefined : Number(yearMatch[0]),
      rating: parseRating(body.meta),
      facts: parseTitleFacts(body.meta),
    };
  }
}

/** Returns true when an expression of the configuration uses a variable from metadata. */
function expressionsUseMetadata(config: AddonConfig): boolean {
  const lists = [
    config.includedStreamExpressions,
    config.excludedStreamExpressions,
    config.requiredStreamExpressions,
    config.preferredStreamExpressions,
    config.rankedStreamExpressions,
  ];
  return lists.some((list) =>
    list?.some((entry) =>
      usesMetadata(typeof entry === 'string' ? entry : entry.enabled === false ? '' : entry.expression),
    ),
  );
}
