import * as m from '#messages/addons-problems';
import type { FetchOptions, FetchReply, StreamReply } from '../../contracts/outgoing.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddressPolicy, CheckedAddress, Trust } from './address-policy.ts';

const maxRedirects = 5;
/** Headers that identify no client are sent to redirect targets. All other headers are not. */
const forwardedHeaders = new Set(['accept', 'accept-language', 'user-agent', 'range', 'if-range']);

export interface GuardedFetchOptions extends Pick<FetchOptions, 'method' | 'body' | 'signal' | 'maxBytes'> {
  readonly headers: Readonly<Record<string, string>>;
  /** Name of the requested addon or service for messages. */
  readonly name: string;
  readonly trust: Trust;
}

interface RedirectStep {
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
  async fetch(url: string, options: GuardedFetchOptions & { readonly timeoutMs: number }): Promise<FetchReply> {
    const deadlineAt = performance.now() + options.timeoutMs;
    return await this.#followRedirects(url, options, async (checkedAddress, step) => {
      const { maxBytes } = options;
      return await this.#context.fetch(checkedAddress.url, {
        ...(maxBytes === undefined ? {} : { maxBytes }),
        ...buildFetchOptions(checkedAddress, step, options, this.#context.address('addons')),
        timeoutMs: Math.max(1, deadlineAt - performance.now()),
      });
    });
  }

  /** Works as {@link fetch} for bodies of any length. */
  async stream(url: string, options: GuardedFetchOptions): Promise<StreamReply> {
    return await this.#followRedirects(url, options, async (checkedAddress, step) => {
      const reply = await this.#context.fetch.stream(
        checkedAddress.url,
        buildFetchOptions(checkedAddress, step, options, this.#context.address('addons')),
      );
      if (isRedirect(reply)) reply.body.destroy();
      return reply;
    });
  }

  async #followRedirects<Reply extends FetchReply | StreamReply>(
    url: string,
    options: GuardedFetchOptions,
    sendRequest: (checkedAddress: CheckedAddress, step: RedirectStep) => Promise<Reply>,
  ): Promise<Reply> {
    const { name, trust, method = 'GET', headers, body } = options;
    const originalHost = URL.parse(url)?.hostname;
    let step: RedirectStep = { url, method, headers, body };
    for (let redirects = 0; ; redirects += 1) {
      // The owner trusts the host of the configured address, but not the hosts it redirects to.
      const isTrusted = trust === 'owner' && URL.parse(step.url)?.hostname === originalHost;
      const checkedAddress = await this.#policy.checkAddress(step.url, name, isTrusted ? 'owner' : 'other');
      const reply = await sendRequest(checkedAddress, step);
      if (!isRedirect(reply)) return reply;
      if (redirects >= maxRedirects)
        throw new Problem('fetch.failed', 502, () => m.redirectsTooMany({ maximum: maxRedirects }), {
          retryable: false,
        });
      step = followRedirect(step, reply);
    }
  }
}

/**
 * Builds the options of a request. A configuration can use another one of this service as an addon, so requests may
 * reach the listener of this service.
 */
function buildFetchOptions(
  checkedAddress: CheckedAddress,
  step: RedirectStep,
  { signal }: GuardedFetchOptions,
  ownListener: string | undefined,
) {
  return {
    method: step.method,
    headers: { ...step.headers, ...checkedAddress.headers },
    trust: checkedAddress.trust,
    redirect: 'manual' as const,
    ...(ownListener === undefined ? {} : { ownListener }),
    ...(step.body === undefined ? {} : { body: step.body }),
    ...(signal === undefined ? {} : { signal }),
  };
}

function isRedirect({ status, headers }: Pick<FetchReply, 'status' | 'headers'>): boolean {
  return [301, 302, 303, 307, 308].includes(status) && headers['location'] !== undefined;
}

/** Follows a redirect as browsers do. Credentials and bodies are not sent to another origin. */
function followRedirect(step: RedirectStep, { status, headers }: Pick<FetchReply, 'status' | 'headers'>): RedirectStep {
  const url = URL.parse(headers['location'] ?? '', step.url);
  if (url === null) throw new Problem('fetch.failed', 502, m.redirectInvalid, { retryable: false });
  const isSameOrigin = url.origin === URL.parse(step.url)?.origin;
  const becomesGet = step.method !== 'HEAD' && (status === 303 || (status < 303 && step.method === 'POST'));
  if (!isSameOrigin && step.body !== undefined && !becomesGet)
    throw new Problem('fetch.failed', 502, () => m.redirectToOther({ host: url.host }));
  const keptHeaders = Object.entries(step.headers).filter(
    ([name]) =>
      (isSameOrigin || forwardedHeaders.has(name.toLowerCase())) &&
      !(becomesGet && name.toLowerCase().startsWith('content-')),
  );
  return {
    url: url.href,
    method: becomesGet ? 'GET' : step.method,
    headers: Object.fromEntries(keptHeaders),
    body: becomesGet ? undefined : step.body,
  };
}
