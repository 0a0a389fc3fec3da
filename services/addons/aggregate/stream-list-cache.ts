import { LruMap } from '../domain/lru-map.ts';
import type { ReadStreams } from '../domain/read-stream.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { Asker } from './request-context.ts';

const keptMs = 60_000;
const most = 100;
const mostWeight = 8_000_000;
const streamWeight = 1000;

interface KeptList {
  readonly answers: readonly ReadStreams[];
  readonly text: string;
  readonly until: number;
}

/** Caches finished lists for repeated requests, as long as the responses of the addons are unchanged. */
export class KeptLists {
  readonly #lists = new LruMap<string, KeptList>(most, {
    // Each entry keeps its responses in memory.
    weigh: ({ text, answers }) =>
      answers.reduce((weight, { streams }) => weight + streams.length * streamWeight, text.length),
    mostWeight,
  });

  get(key: string, answers: readonly ReadStreams[], now: number): string | undefined {
    const kept = this.#lists.get(key);
    return kept !== undefined && kept.until > now && isSame(kept.answers, answers) ? kept.text : undefined;
  }

  keep(key: string, list: Omit<KeptList, 'until'>, now: number): void {
    this.#lists.set(key, { ...list, until: now + keptMs });
  }
}

/** Builds the cache key. Lists are never shared between configurations or public addresses. */
export function listKey(asker: Asker, { type, id }: ResourceRequest): string {
  const { uuid, revision, foreign = false, baseUrl, withData } = asker;
  return JSON.stringify([uuid, revision, foreign, baseUrl, withData, type, id]);
}

function isSame(one: readonly ReadStreams[], other: readonly ReadStreams[]): boolean {
  return one.length === other.length && one.every((answer, at) => answer === other[at]);
}
