import type { FetchOptions, FetchReply, StreamReply } from '../../contracts/outgoing.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddressPolicy, Route, Trust } from './address-policy.ts';

const mostRedirects = 5;
/** Headers that identify no client are sent to redirect targets. All other headers are not. */
const harmless = new Set(['accept', 'accept-language', 'user-agent', 'range', 'if-range']);

export interface GuardedOptions extends Pick<FetchOptions, 'method' | 'body' | 'signal' | 'maxBytes'> {
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the requested addon or service for messages. */
  readonly name: string;
  readonly trust: Trust;
}

interface Hop {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/**
 * Sends requests to addresses that users choose. Each address, including redirect targets, is checked before the
 * request.
 */
export class GuardedFetch {
  readonly #context: Pick<Context, 'fetch' | 'address'>;
  readonly #policy: AddressPolicy;

  constructor(context: Pick<Context, 'fetch' | 'address'>, policy: AddressPolicy) {
    this.#context = context;
    this.#policy = policy;
  }

  /**
   * Returns the complete response within `timeoutMs`.
   *
   * @throws Problem as `Fetch` does, and `addons.refused_address` (403).
   */
  async fetch(url: string, options: GuardedOptions & { readonly timeoutMs: number }): Promise<FetchReply> {
    const until = performance.now() + options.timeoutMs;
    return await this.#walk(url, options, async (route, hop) => {
      const { maxBytes } = options;
      return await this.#context.fetch(route.url, {
        ...(maxBytes === undefined ? {} : { maxBytes }),
        ...sent(route, hop, options, this.#context.address('addons')),
        timeoutMs: Math.max(1, until - performance.now()),
      });
    });
  }

  /** Works as {@link fetch} for bodies of any length. */
  async stream(url: string, options: GuardedOptions): Promise<StreamReply> {
    return await this.#walk(url, options, async (route, hop) => {
      const reply = await this.#context.fetch.stream(
        route.url,
        sent(route, hop, options, this.#context.address('addons')),
      );
      if (isRedirect(reply)) reply.body.destroy();
      return reply;
    });
  }

  async #walk<Reply extends FetchReply | StreamReply>(
    url: string,
    options: GuardedOptions,
    ask: (route: Route, hop: Hop) => Promise<Reply>,
  ): Promise<Reply> {
    const { name, trust, method = 'GET', headers, body } = options;
    const first = URL.parse(url)?.hostname;
    let hop: Hop = { url, method, headers, body };
    for (let redirects = 0; ; redirects += 1) {
      // The owner trusts the host of the configured address, but not the hosts it redirects to.
      const near = trust === 'owner' && URL.parse(hop.url)?.hostname === first;
      const route = await this.#policy.route(hop.url, name, near ? 'owner' : 'other');
      const reply = await ask(route, hop);
      if (!isRedirect(reply)) return reply;
      if (redirects >= mostRedirects)
        throw new Problem('fetch.failed', 502, `More than ${String(mostRedirects)} redirects.`, { retryable: false });
      hop = next(hop, reply);
    }
  }
}

/**
 * Builds the options of a request. A configuration can use another one of this service as an addon, so requests may
 * reach the listener of this service.
 */
function sent(route: Route, hop: Hop, { signal }: GuardedOptions, ownListener: string | undefined) {
  return {
    method: hop.method,
    headers: { ...hop.headers, ...route.headers },
    trust: route.trust,
    redirect: 'manual' as const,
    ...(ownListener === undefined ? {} : { ownListener }),
    ...(hop.body === undefined ? {} : { body: hop.body }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function isRedirect({ status, headers }: Pick<FetchReply, 'status' | 'headers'>): boolean {
  return [301, 302, 303, 307, 308].includes(status) && headers['location'] !== undefined;
}

/** Follows a redirect as browsers do. Credentials and bodies are not sent to another origin. */
function next(hop: Hop, { status, headers }: Pick<FetchReply, 'status' | 'headers'>): Hop {
  const url = URL.parse(headers['location'] ?? '', hop.url);
  if (url === null) throw new Problem('fetch.failed', 502, 'A redirect leads to no address.', { retryable: false });
  const same = url.origin === URL.parse(hop.url)?.origin;
  const toGet = hop.method !== 'HEAD' && (status === 303 || (status < 303 && hop.method === 'POST'));
  if (!same && hop.body !== undefined && !toGet)
    throw new Problem('fetch.failed', 502, `${url.host} is another place, to which nothing is sent on.`);
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (same || harmless.has(name.toLowerCase())) && !(toGet && name.toLowerCase().startsWith('content-')),
  );
  return {
    url: url.href,
    method: toGet ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    body: toGet ? undefined : hop.body,
  };
}
