import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { namesMetadata } from '../domain/expression/variables.ts';
import { needsMetadata } from '../domain/format-context.ts';
import { looksAtRelease } from '../domain/pipeline/release-filter.ts';
import type { TitleFacts, Wanted } from '../domain/pipeline/title-request.ts';
import { looksAtRating, noRating, ratingOf, type Rating } from '../domain/rating.ts';
import { factsOf } from '../domain/title-facts.ts';
import { AnswerCache } from '../upstream/response-cache.ts';

const day = 24 * 3_600_000;
const patienceMs = 3000;
/** Duration for which a failed request is not repeated. */
const failedMs = 60_000;
/** Estimated memory use of a title and of each episode. */
const titleBytes = 1000;
const episodeBytes = 100;
const mostBytes = 8_000_000;

interface Title {
  readonly titles: readonly string[];
  readonly year: number | undefined;
  readonly rating: Rating;
  readonly facts: TitleFacts | undefined;
}

/** Reads titles, years and facts from an addon with metadata, if the configuration uses them. */
export class Titles {
  readonly #context: Context;
  readonly #url: string;
  readonly #cache: AnswerCache<Title>;

  constructor(context: Context, url: string) {
    this.#context = context;
    this.#url = url.replace(/\/+(?:manifest\.json)?$/, '');
    this.#cache = new AnswerCache({
      clock: context.clock,
      failedMs,
      most: 1000,
      freshMs: day,
      staleMs: 7 * day,
      keeps: ({ titles }) => titles.length > 0,
      weigh: ({ facts }) => titleBytes + (facts?.episodes.length ?? 0) * episodeBytes,
      mostWeight: mostBytes,
    });
  }

  /** Adds title, year and age rating if the configuration uses them. Without a response the filters have no effect. */
  async complete(wanted: Wanted, config: AddonConfig): Promise<Wanted> {
    return this.#isNeeded(wanted, config) ? { ...wanted, ...(await this.find(wanted)) } : wanted;
  }

  #isNeeded(wanted: Wanted, config: AddonConfig): boolean {
    const { titleMatching, yearMatching } = config;
    if (titleMatching?.enabled === true || yearMatching?.enabled === true) return true;
    return needsMetadata(config) || looksAtRating(config) || looksAtRelease(config, wanted) || expressionsName(config);
  }

  async find({ type, id }: Pick<Wanted, 'type' | 'id'>): Promise<Title> {
    const nothing = { titles: [], year: undefined, rating: noRating, facts: undefined };
    const [base = ''] = id.split(':');
    if (this.#url === '' || !/^tt\d+$/.test(base)) return nothing;
    const url = `${this.#url}/meta/${encodeURIComponent(type)}/${base}.json`;
    try {
      return await this.#cache.get(url, () => this.#ask(url)).answer;
    } catch {
      // Filters without a title let all streams pass.
      return nothing;
    }
  }

  async #ask(url: string): Promise<Title> {
    const reply = await this.#context.fetch(url, { timeoutMs: patienceMs, maxBytes: 4 * 1024 * 1024, trust: 'owner' });
    const body = JSON.parse(new TextDecoder().decode(reply.body)) as {
      meta?: { name?: unknown; year?: unknown; releaseInfo?: unknown };
    };
    const { name, year, releaseInfo } = body.meta ?? {};
    const found = /\d{4}/.exec(typeof year === 'string' ? year : typeof releaseInfo === 'string' ? releaseInfo : '');
    return {
      titles: typeof name === 'string' ? [name] : [],
      year: found === null ? undefined : Number(found[0]),
      rating: ratingOf(body.meta),
      facts: factsOf(body.meta),
    };
  }
}

/** Returns true when an expression of the configuration uses a variable from metadata. */
function expressionsName(config: AddonConfig): boolean {
  const lists = [
    config.includedStreamExpressions,
    config.excludedStreamExpressions,
    config.requiredStreamExpressions,
    config.preferredStreamExpressions,
    config.rankedStreamExpressions,
  ];
  return lists.some((list) =>
    list?.some((one) => namesMetadata(typeof one === 'string' ? one : one.enabled === false ? '' : one.expression)),
  );
}
