import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

const keptMs = 30_000;
const failureKeptMs = 5000;
const mostNames = 10_000;

interface Known {
  readonly until: number;
  readonly addresses: readonly LookupAddress[];
  readonly error: NodeJS.ErrnoException | undefined;
}

const known = new Map<string, Known>();
const asked = new Map<string, ((found: Known) => void)[]>();

/**
 * Resolves names with the system resolver and caches the result for 30 seconds, because the resolver has only four
 * threads.
 */
export const rememberedLookup: LookupFunction = (host, options, callback) => {
  const answer = ({ addresses, error }: Known): void => {
    const wanted = addresses.filter(
      ({ family }) => !options.family || options.family === family || options.family === `IPv${String(family)}`,
    );
    const [first] = wanted;
    if (error !== undefined) callback(error, '', 0);
    else if (first === undefined) {
      callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), '', 0);
    } else if (options.all === true) callback(null, [...wanted]);
    else callback(null, first.address, first.family);
  };
  const found = known.get(host);
  if (found !== undefined && found.until > performance.now()) return answer(found);
  const waiting = asked.get(host);
  if (waiting !== undefined) return void waiting.push(answer);
  asked.set(host, [answer]);
  lookup(host, { all: true }, (error, addresses) => {
    const kept = error === null ? keptMs : failureKeptMs;
    const now = { until: performance.now() + kept, addresses: addresses ?? [], error: error ?? undefined };
    known.delete(host);
    known.set(host, now);
    const [oldest] = known.keys();
    if (known.size > mostNames && oldest !== undefined) known.delete(oldest);
    const answers = asked.get(host) ?? [];
    asked.delete(host);
    for (const one of answers) one(now);
  });
};
