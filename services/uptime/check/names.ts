import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

const cacheMs = 30_000;
const failureCacheMs = 5000;
const maxNames = 10_000;

interface CachedName {
  readonly until: number;
  readonly addresses: readonly LookupAddress[];
  readonly error: NodeJS.ErrnoException | undefined;
}

const cache = new Map<string, CachedName>();
const pendingCallbacks = new Map<string, ((cached: CachedName) => void)[]>();

/**
 * Resolves names with the system resolver and caches the result for 30 seconds, because the resolver has only four
 * threads.
 */
export const cachedLookup: LookupFunction = (host, options, callback) => {
  const answer = ({ addresses, error }: CachedName): void => {
    const matching = addresses.filter(
      ({ family }) => !options.family || options.family === family || options.family === `IPv${String(family)}`,
    );
    const [first] = matching;
    if (error !== undefined) callback(error, '', 0);
    else if (first === undefined) {
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), '', 0);
    } else if (options.all === true) callback(null, [...matching]);
    else callback(null, first.address, first.family);
  };
  const cached = cache.get(host);
  if (cached !== undefined && cached.until > performance.now()) return answer(cached);
  const waiting = pendingCallbacks.get(host);
  if (waiting !== undefined) return void waiting.push(answer);
  pendingCallbacks.set(host, [answer]);
  lookup(host, { all: true }, (error, addresses) => {
    const durationMs = error === null ? cacheMs : failureCacheMs;
    const entry = { until: performance.now() + durationMs, addresses: addresses ?? [], error: error ?? undefined };
    cache.delete(host);
    cache.set(host, entry);
    const [oldest] = cache.keys();
    if (cache.size > maxNames && oldest !== undefined) cache.delete(oldest);
    const answers = pendingCallbacks.get(host) ?? [];
    pendingCallbacks.delete(host);
    for (const pendingCallback of answers) pendingCallback(entry);
  });
};
