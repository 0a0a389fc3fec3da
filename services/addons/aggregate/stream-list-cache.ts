import { LruMap } from '../../kit/lru-map.ts';
import type { ReadStreams } from '../domain/read-stream.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { RequestContext } from './request-context.ts';

const maxAgeMs = 60_000;
const maxLists = 100;
const maxWeight = 8_000_000;
const streamWeight = 1000;

interface CachedList {
  readonly responses: readonly ReadStreams[];
  readonly text: string;
  readonly expiresAt: number;
}

/** Caches finished lists for repeated requests, as long as the responses of the addons are unchanged. */
export class StreamListCache {
  readonly #lists = new LruMap<string, CachedList>(maxLists, {
    // Each entry keeps its responses in memory.
    getWeight: ({ text, responses }) =>
      responses.reduce((weight, { streams }) => weight + streams.length * streamWeight, text.length),
    maxWeight,
  });

  get(key: string, responses: readonly ReadStreams[], now: number): string | undefined {
    const cached = this.#lists.get(key);
    return cached !== undefined && cached.expiresAt > now && areSameResponses(cached.responses, responses)
      ? cached.text
      : undefined;
  }

  set(key: string, list: Omit<CachedList, 'expiresAt'>, now: number): void {
    this.#lists.set(key, { ...list, expiresAt: now + maxAgeMs });
  }
}

/** Builds the cache key. Lists are never shared between configurations or public addresses. */
export function buildListKey(requestContext: RequestContext, { type, id }: ResourceRequest): string {
  const { uuid, revision, foreign = false, baseUrl, withData } = requestContext;
  return JSON.stringify([uuid, revision, foreign, baseUrl, withData, type, id]);
}

function areSameResponses(firstResponses: readonly ReadStreams[], secondResponses: readonly ReadStreams[]): boolean {
  return (
    firstResponses.length === secondResponses.length &&
    firstResponses.every((response, index) => response === secondResponses[index])
  );
}
