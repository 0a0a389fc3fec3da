import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { Wanted } from '../domain/pipeline/title-match.ts';
import { AnswerCache } from '../upstream/answer-cache.ts';

const day = 24 * 3_600_000;
const patienceMs = 3000;

interface Title {
  readonly titles: readonly string[];
  readonly year: number | undefined;
}

/** Titles and years of what is asked for, from an addon that has metadata; only where somebody needs them. */
export class Titles {
  readonly #context: Context;
  readonly #url: string;
  readonly #cache: AnswerCache<Title>;

  constructor(context: Context, url: string) {
    this.#context = context;
    this.#url = url.replace(/\/+(?:manifest\.json)?$/, '');
    this.#cache = new AnswerCache({
      clock: context.clock,
      most: 1000,
      freshMs: day,
      staleMs: 7 * day,
      keeps: ({ titles }) => titles.length > 0,
    });
  }

  /** With title and year where the configuration looks at them. Without an answer the filters have no effect. */
  async complete(wanted: Wanted, { titleMatching, yearMatching }: AddonConfig): Promise<Wanted> {
    if (titleMatching?.enabled !== true && yearMatching?.enabled !== true) return wanted;
    return { ...wanted, ...(await this.find(wanted)) };
  }

  async find({ type, id }: Pick<Wanted, 'type' | 'id'>): Promise<Title> {
    const nothing = { titles: [], year: undefined };
    const [base = ''] = id.split(':');
    if (this.#url === '' || !/^tt\d+$/.test(base)) return nothing;
    const url = `${this.#url}/meta/${encodeURIComponent(type)}/${base}.json`;
    try {
      return await this.#cache.get(url, () => this.#ask(url)).answer;
    } catch {
      // A filter that cannot know what is right lets everything through.
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
    return { titles: typeof name === 'string' ? [name] : [], year: found === null ? undefined : Number(found[0]) };
  }
}
