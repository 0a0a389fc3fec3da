import * as m from '#messages/addons-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { createCloseSignal } from '../../kit/http/disconnect-signal.ts';
import { addHeaders, startResponse } from '../../kit/http/respond.ts';
import type { AddonConfig } from '../domain/config.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { LruMap } from '../../kit/lru-map.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { AddressPolicy, Trust } from '../upstream/address-policy.ts';
import type { GuardedFetch } from '../upstream/guarded-fetch.ts';

const purpose = 'addons.proxy';
const Headers = z.record(z.string(), z.string());
const Target = z.object({
  url: z.string(),
  request: Headers.optional(),
  response: Headers.optional(),
  /** Addon that returned the address. Addresses from public addons must not lead to the home network. */
  from: z.string().optional(),
  /** Set for configurations of other sites, which are limited to public addresses. */
  foreign: z.literal(true).optional(),
});

/** Headers that belong to one connection or identify the client. */
const notForwarded = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'cookie',
  'set-cookie',
  'authorization',
  'origin',
  'referer',
  'content-length',
  'accept-encoding',
  'content-encoding',
  'x-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'cf-connecting-ip',
  'true-client-ip',
  'forwarded',
  'x-addon-password',
  'strict-transport-security',
  'content-security-policy',
  'alt-svc',
  'access-control-allow-origin',
  'access-control-allow-credentials',
]);

/** Returns the headers that may be forwarded. */
export function getForwardableHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && !notForwarded.has(name.toLowerCase())) result[name.toLowerCase()] = value;
  return result;
}

/**
 * Plays streams through this computer, for players that cannot send the required headers or must not be visible to the
 * source.
 */
export class StreamProxy {
  readonly #context: Context;
  readonly #profiles: Profiles;
  readonly #policy: AddressPolicy;
  readonly #guardedFetch: GuardedFetch;
  readonly #trust: () => Trust;
  readonly #sealed = new LruMap<string, string>(5000);

  constructor(options: {
    readonly context: Context;
    readonly profiles: Profiles;
    readonly policy: AddressPolicy;
    readonly guardedFetch: GuardedFetch;
    readonly trust: () => Trust;
  }) {
    this.#context = options.context;
    this.#profiles = options.profiles;
    this.#policy = options.policy;
    this.#guardedFetch = options.guardedFetch;
    this.#trust = options.trust;
  }

  /** Returns a function that replaces stream addresses by addresses of the proxy, as the configuration requires. */
  createRewriter(config: AddonConfig, baseUrl: string, foreign: boolean): (result: PipelineResult) => PipelineResult {
    const { proxy } = config;
    if (proxy?.enabled !== true) return (result) => result;
    const addons = new Set(proxy.proxiedAddons ?? []);
    const services = new Set(proxy.proxiedServices ?? []);
    const isProxied = ({ url, addon, service, type }: ParsedStream): boolean => {
      if (url === undefined || !/^https?:/i.test(url) || type === 'external' || url.startsWith(`${baseUrl}/api/v1/`))
        return false;
      const matchesAddon =
        addons.size === 0 || addons.has(addon.instanceId) || addons.has(addon.instanceId.slice(0, -4));
      return matchesAddon && (services.size === 0 || services.has(service?.id ?? 'none'));
    };
    return ({ visible, ...rest }) => ({
      ...rest,
      visible: visible.map((stream) => (isProxied(stream) ? this.#rewrite(stream, config, baseUrl, foreign) : stream)),
    });
  }

  #rewrite(stream: ParsedStream, { proxy }: AddonConfig, baseUrl: string, foreign: boolean): ParsedStream {
    const url = stream.url ?? '';
    const proxyHeaders = z
      .object({ request: Headers.optional(), response: Headers.optional() })
      .safeParse(stream.hints['proxyHeaders']);
    const headers = proxyHeaders.success ? proxyHeaders.data : {};
    const name = encodeURIComponent(stream.filename ?? 'stream');
    if (proxy?.id === 'mediaflow' && proxy.url) {
      const query = new URLSearchParams({ d: url, ...(proxy.credentials ? { api_password: proxy.credentials } : {}) });
      for (const [header, value] of Object.entries(headers.request ?? {}))
        query.set(`h_${header.toLowerCase()}`, value);
      const proxyUrl = (proxy.publicUrl || proxy.url).replace(/\/+$/, '');
      return { ...stream, proxied: true, url: `${proxyUrl}/proxy/stream/${name}?${query.toString()}` };
    }
    const target = { url, from: stream.addon.manifestUrl, ...headers, ...(foreign ? { foreign } : {}) };
    return { ...stream, proxied: true, url: this.buildAddress(baseUrl, target, stream.filename ?? 'stream') };
  }

  /** Returns an address of the proxy for another address and its headers, in sealed form. */
  buildAddress(baseUrl: string, target: z.infer<typeof Target>, name: string): string {
    const text = JSON.stringify(target);
    let sealed = this.#sealed.get(text);
    if (sealed === undefined) {
      sealed = this.#profiles.seal(text, purpose);
      this.#sealed.set(text, sealed);
    }
    return `${baseUrl}/api/v1/proxy/e.${sealed}/${encodeURIComponent(name)}`;
  }

  /** Answers an address of the proxy, including range requests. */
  async serve(request: IncomingMessage, response: ServerResponse, token: string): Promise<void> {
    const text = token.startsWith('e.') ? this.#profiles.unseal(token.slice(2), purpose) : undefined;
    const target = Target.safeParse(text === undefined ? undefined : JSON.parse(text));
    if (!target.success) throw new Problem('addons.unauthorized', 401, m.proxyAddressInvalid());
    const {
      url,
      request: requestHeaders = {},
      response: responseHeaders = {},
      from: sourceUrl = '',
      foreign = false,
    } = target.data;
    const headers = { ...getForwardableHeaders(request.headers), ...requestHeaders };
    const trust =
      !foreign && this.#trust() === 'owner' && (await this.#policy.isPrivateAddress(sourceUrl)) ? 'owner' : 'other';
    await this.forward(request, response, url, { headers, trust, extraHeaders: responseHeaders });
  }

  /** Forwards a request and its response. */
  async forward(
    request: IncomingMessage,
    response: ServerResponse,
    url: string,
    {
      headers,
      trust,
      extraHeaders = {},
    }: {
      readonly headers: Readonly<Record<string, string>>;
      readonly trust: Trust;
      readonly extraHeaders?: Readonly<Record<string, string>>;
    },
  ): Promise<void> {
    const signal = createCloseSignal(response);
    const reply = await this.#guardedFetch.stream(url, {
      method: request.method === 'HEAD' ? 'HEAD' : 'GET',
      headers,
      signal,
      name: 'This stream',
      trust,
    });
    addHeaders(response, { ...getResponseHeaders(reply.headers), ...extraHeaders });
    startResponse(response, reply.status);
    if (request.method === 'HEAD') {
      reply.body.destroy();
      response.end();
      return;
    }
    await pipeline(reply.body, response).catch((error: unknown) => {
      // Players close the connection to seek.
      if (!signal.aborted) this.#context.log.debug('proxied stream interrupted', { error });
    });
  }
}

/** Returns the response headers. Length and encoding belong to the body, which is forwarded unchanged. */
function getResponseHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const result = getForwardableHeaders(headers);
  for (const name of ['content-length', 'content-encoding']) {
    const value = headers[name];
    if (value !== undefined) result[name] = value;
  }
  return result;
}
