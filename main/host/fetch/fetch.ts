import * as m from '#messages/host-problems';
import { lookup } from 'node:dns/promises';
import { getCACertificates } from 'node:tls';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Connect, Fetch, FetchOptions, FetchReply, FetchStream } from '../../../services/contracts/outgoing.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { isRefusedAddress } from './addresses.ts';
import { rejectOwnListeners, checkedConnector, checkedLookup, type IsRefused, type Resolve } from './connector.ts';
import { openDeadline, type Deadline } from './deadline.ts';
import { decode } from './decode.ts';
import { openConnection } from './connect.ts';
import { exchange, type Answer } from './exchange.ts';
import { explainFailure } from './explain.ts';
import { OwnConnections } from './own-connections.ts';
import { firstHop, nextHop, type Hop } from './redirect.ts';
import { openStream } from './stream.ts';

export interface HostFetchOptions {
  readonly log: Log;
  /**
   * Setting that allows requests on behalf of clients to reach private addresses. Called for each request. Default:
   * no.
   */
  readonly allowPrivate?: () => boolean;
  /** Options of undici's agents. */
  readonly agentOptions?: Omit<Agent.Options, 'connect'>;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Default: all addresses that are not public. */
  readonly isRefused?: IsRefused;
  /** Prevents requests to the listeners of this process. Default: no listeners. */
  readonly ownConnections?: OwnConnections;
}

/** Disposal closes idle connections and ends running requests. */
export type HostFetch = Fetch & { readonly stream: FetchStream; readonly connect: Connect } & AsyncDisposable;

interface Agents {
  /** Its connections are checked when they are opened, and never shared with unchecked requests. */
  readonly checked: Dispatcher;
  readonly free: Dispatcher;
  /** For hosts that the owner entered; trusts additional authorities, if there are any. */
  readonly vouched: Dispatcher;
  /** Accepts any certificate. Its connections and TLS sessions are not shared. */
  readonly unverified: Dispatcher;
}

const defaults = { timeoutMs: 30_000, maxBytes: 1024 * 1024, maxRedirects: 5 } as const;

/**
 * Creates the HTTP client of all services, with timeout, size limit and, unless the owner entered the address, a
 * check of every resolved address, also after redirects. undici is loaded by the first request.
 */
export function createFetch(options: HostFetchOptions): HostFetch {
  /**
   * Keyed by the own listener that the connections may reach and by additional authorities, since connections are reused
   * for further requests.
   */
  const agents = new Map<string, Promise<Agents>>();
  const agentsFor = (ownListener = '', ca = ''): Promise<Agents> => {
    const key = `${ownListener} ${ca}`;
    const opened = agents.get(key) ?? openAgents(options, ownListener, ca);
    agents.set(key, opened);
    return opened;
  };

  /** The owner trusts the entered host, not the hosts it redirects to. */
  const dispatchers = async (
    firstHop: Hop,
    requestOptions: Pick<FetchOptions, 'trust' | 'verify' | 'ownListener' | 'ca'>,
  ) => {
    const opened = await agentsFor(requestOptions.ownListener, requestOptions.ca);
    const allowPrivate = options.allowPrivate?.() === true;
    return ({ url }: Hop): Dispatcher => {
      const vouched = requestOptions.trust === 'owner' && url.hostname === firstHop.url.hostname;
      if (vouched) return requestOptions.verify === false ? opened.unverified : opened.vouched;
      return allowPrivate ? opened.free : opened.checked;
    };
  };

  const fetch: Fetch = async (address, requestOptions = {}) => {
    const { timeoutMs = defaults.timeoutMs } = requestOptions;
    const hop = firstHop(address, requestOptions.method ?? 'GET', requestOptions.headers ?? {}, requestOptions.body);
    using deadline = openDeadline(timeoutMs, requestOptions.signal);
    try {
      return await followRedirects(hop, await dispatchers(hop, requestOptions), deadline, requestOptions);
    } catch (error) {
      const problem = explainFailure(error, hop.url.host, deadline.isOver() ? timeoutMs : undefined);
      options.log.debug('fetch failed', {
        host: hop.url.host,
        method: hop.method,
        code: problem.code,
        error: problem.cause,
      });
      throw problem;
    }
  };

  const stream: FetchStream = async (address, requestOptions = {}) => {
    const hop = firstHop(address, requestOptions.method ?? 'GET', requestOptions.headers ?? {}, undefined);
    try {
      return await openStream(hop, await dispatchers(hop, requestOptions), requestOptions);
    } catch (error) {
      if (requestOptions.signal?.aborted === true) throw requestOptions.signal.reason;
      throw explainFailure(error, hop.url.host);
    }
  };

  return Object.assign(fetch, {
    stream,
    connect: createConnect(options),
    async [Symbol.asyncDispose]() {
      const opened = await Promise.all(agents.values());
      await Promise.all(
        opened
          .flatMap((each) => [each.checked, each.free, each.vouched, each.unverified])
          .map((agent) => agent.destroy()),
      );
    },
  });
}

function createConnect(options: HostFetchOptions): Connect {
  return (requestOptions) => {
    const { resolve = resolveAll, isRefused = isRefusedAddress, ownConnections = new OwnConnections() } = options;
    const free = requestOptions.trust === 'owner' || options.allowPrivate?.() === true;
    return openConnection(requestOptions, { resolve, isRefused: free ? undefined : isRefused, ownConnections });
  };
}

async function openAgents(options: HostFetchOptions, ownListener: string, ca: string): Promise<Agents> {
  const { agentOptions, resolve = resolveAll, isRefused = isRefusedAddress, ownConnections } = options;
  const { Agent, buildConnector } = await import('undici');
  const common = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 64 * 1024, ...agentOptions };
  // Port 0 satisfies the type; the connector replaces it by the request's port.
  const connecting = { timeout: 10_000, allowH2: false, autoSelectFamily: true, port: 0 };
  const own = ownConnections ?? new OwnConnections();
  const checked = buildConnector({ ...connecting, lookup: checkedLookup(resolve, isRefused) });
  const agentWith = (connect: buildConnector.connector): Dispatcher =>
    new Agent({ ...common, connect: rejectOwnListeners(connect, own, ownListener) });
  const free = agentWith(buildConnector(connecting));
  return {
    checked: agentWith(checkedConnector(checked, isRefused)),
    free,
    vouched: ca === '' ? free : agentWith(buildConnector({ ...connecting, ca: [...getCACertificates(), ca] })),
    unverified: agentWith(buildConnector({ ...connecting, rejectUnauthorized: false })),
  };
}

const resolveAll: Resolve = (host) => lookup(host, { all: true, order: 'verbatim' });

/** Sends the request and follows redirects. */
async function followRedirects(
  firstHop: Hop,
  dispatcherFor: (hop: Hop) => Dispatcher,
  deadline: Deadline,
  options: FetchOptions,
): Promise<FetchReply> {
  const { maxBytes = defaults.maxBytes, maxRedirects = defaults.maxRedirects } = options;
  let hop = firstHop;
  for (let redirects = 0; ; redirects += 1) {
    deadline.check();
    let next: Hop | undefined;
    const answer = await exchange(dispatcherFor(hop), hop, deadline, (status, headers) => {
      if (options.redirect !== 'manual') next = nextHop(hop, status, headers['location'], options.keepMethod);
      if (next === undefined) return { keep: true, maxBytes: maxBytes };
      if (redirects < maxRedirects) return redirectBody;
      const { host } = hop.url;
      const detail = (): string =>
        maxRedirects === 0 ? m.redirectRefused({ host }) : m.tooManyRedirects({ maxRedirects });
      throw new Problem('fetch.failed', 502, detail, { retryable: false });
    });
    if (next === undefined) return await finish(hop, answer, maxBytes);
    hop = next;
  }
}

/** The body of a redirect is discarded; the connection can be reused if it is short. */
const redirectBody = { keep: false, maxBytes: 16 * 1024 } as const;

async function finish(hop: Hop, { status, headers, bytes }: Answer, maxBytes: number): Promise<FetchReply> {
  const encoding = bytes.length === 0 ? '' : (headers['content-encoding'] ?? '');
  if (encoding === '') return { status, headers, body: bytes, url: hop.url.href };
  // These two describe the compressed body.
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers;
  return { status, headers: rest, body: await decode(bytes, encoding, maxBytes), url: hop.url.href };
}
