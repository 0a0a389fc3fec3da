import * as m from '#messages/gateway-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { findOwn } from '../../contracts/find-own.ts';
import type { DispatchHandlers } from '../../contracts/dispatch.ts';
import { getGatewayIdentity } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import { startResponse } from '../../kit/http/respond.ts';
import { stripMappedPrefix } from '../domain/names.ts';
import { refuseUpgrade } from '../pages/responses.ts';
import { buildResponseHeaders, buildRequestHeaders } from './headers.ts';
import { hasRequestBody, isRepeatable, toProblem, type ProxyDependencies } from './proxy.ts';
import { filterTrailers } from './trailers.ts';

interface Http2ProxyDependencies extends Omit<ProxyDependencies, 'agent'> {
  /** Opens a connection to the verified address of the upstream. */
  readonly open: () => Promise<Duplex>;
}

type Http2Headers = Record<string, string | string[]>;

/** Passes requests to an upstream over HTTP/2 without TLS, on one shared connection. */
export class Http2Proxy implements DispatchHandlers, Disposable {
  readonly #id: string;
  readonly #deps: Http2ProxyDependencies;
  #session: Promise<ClientHttp2Session> | undefined;

  constructor(id: string, deps: Http2ProxyDependencies) {
    this.#id = id;
    this.#deps = deps;
  }

  readonly request = (request: IncomingMessage, response: ServerResponse): void => {
    const hasBody = hasRequestBody(request);
    const fail = (error: unknown): void => {
      if (response.writableEnded) return;
      if (response.headersSent || response.destroyed) response.destroy();
      else this.#deps.refuse(request, response, toProblem(this.#id, error, this.#deps.context.log));
    };
    const attempt = async (isRetry: boolean): Promise<void> => {
      const isReused = this.#session !== undefined;
      const session = await this.#getSession();
      if (response.destroyed) return;
      const cancel = new AbortController();
      const upstream = this.#sendRequest(session, request, hasBody, cancel.signal);
      connectStreams(request, response, { upstream, cancel }, (error) => {
        // The upstream closed an idle connection while it was reused.
        const mayRepeat = isReused && !isRetry && !hasBody && isRepeatable(request.method) && !response.headersSent;
        if (mayRepeat && session.destroyed && !response.destroyed) attempt(true).catch(fail);
        else fail(error);
      });
      if (!hasBody) request.resume();
    };
    attempt(false).catch(fail);
  };

  /** WebSockets would require extended CONNECT (RFC 8441), which h2c services rarely support. */
  readonly upgrade = (_request: IncomingMessage, socket: Duplex): void => {
    refuseUpgrade(socket, { status: 502, detail: m.externalNoWebSockets({ id: this.#id }) });
  };

  [Symbol.dispose](): void {
    this.#session?.then(
      (session) => session.destroy(),
      () => undefined,
    );
    this.#session = undefined;
  }

  async #getSession(): Promise<ClientHttp2Session> {
    const opening = (this.#session ??= this.#openSession());
    try {
      const session = await opening;
      if (!session.closed && !session.destroyed) return session;
    } catch (error) {
      this.#dropSession(opening);
      throw error;
    }
    this.#dropSession(opening);
    return this.#getSession();
  }

  #dropSession(opening: Promise<ClientHttp2Session>): void {
    if (this.#session === opening) this.#session = undefined;
  }

  async #openSession(): Promise<ClientHttp2Session> {
    const socket = await this.#deps.open();
    const session = connect('http://upstream', {
      createConnection: (): Duplex => socket,
      settings: { enablePush: false },
      maxHeaderListPairs: 1000,
    });
    // Each stream reports a lost connection.
    session.on('error', () => session.destroy());
    session.on('goaway', () => session.close());
    return session;
  }

  #sendRequest(
    session: ClientHttp2Session,
    request: IncomingMessage,
    hasBody: boolean,
    signal: AbortSignal,
  ): ClientHttp2Stream {
    const { context, host } = this.#deps;
    const clientAddress = stripMappedPrefix(request.socket.remoteAddress);
    const forwardedRequest = {
      identity: getGatewayIdentity(request),
      publicUrl: context.publicUrl(request),
      clientAddress,
      hasBody,
      host: host(),
    };
    const headers = toHttp2Headers(buildRequestHeaders(request, forwardedRequest));
    headers[':method'] = request.method ?? 'GET';
    headers[':path'] = request.url ?? '/';
    headers[':scheme'] = 'http';
    if (/(?:^|,)\s*trailers\s*(?:[,;]|$)/i.test(String(request.headers.te ?? ''))) headers['te'] = 'trailers';
    const upstream = session.request(headers, { endStream: !hasBody, waitForTrailers: hasBody, signal });
    if (!hasBody) return upstream;
    upstream.once('wantTrailers', () =>
      upstream.sendTrailers(toHttp2Headers(filterTrailers(request.rawTrailers).flat())),
    );
    request.pipe(upstream);
    return upstream;
  }
}

/** Connects the upstream stream with the client, and resets each side when the other one is aborted. */
function connectStreams(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, cancel }: { readonly upstream: ClientHttp2Stream; readonly cancel: AbortController },
  fail: (error: unknown) => void,
): void {
  let trailers: readonly string[] = [];
  let failure: unknown;
  // `close(NGHTTP2_CANCEL)` would send END_STREAM first, which signals a complete request to the upstream.
  const cancelUpstream = (): void => cancel.abort();
  response.once('close', cancelUpstream);
  // A request that its client breaks off must not appear complete to the upstream.
  request.once('close', () => {
    if (!request.complete) cancelUpstream();
  });
  upstream.on('error', (error: Error) => {
    failure = error;
  });
  upstream.once('response', (headers, flags, raw: string[]) => {
    try {
      sendHead(response, Number(headers[':status']), raw, (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0);
    } catch (error) {
      failure = error;
      return void cancelUpstream();
    }
    upstream.pipe(response, { end: false });
  });
  upstream.once('trailers', (_headers, _flags, raw: string[]) => (trailers = raw));
  upstream.once('end', () => {
    if (upstream.rstCode !== constants.NGHTTP2_NO_ERROR || !response.headersSent || response.writableEnded) return;
    response.addTrailers(filterTrailers(trailers));
    response.end();
  });
  upstream.once('close', () => {
    response.off('close', cancelUpstream);
    request.unpipe(upstream);
    request.resume();
    if (!response.writableEnded) fail(failure ?? new Problem('gateway.upstream_failed', 502, m.responseInterrupted));
  });
}

function sendHead(response: ServerResponse, status: number, raw: readonly string[], isComplete: boolean): void {
  if (!(status >= 200 && status <= 599)) throw new Problem('gateway.upstream_failed', 502, m.responseInvalid);
  const rawHeaders = raw.filter((_each, index) => raw[index - (index % 2)]?.startsWith(':') !== true);
  const headers = buildResponseHeaders({ headers: {}, rawHeaders });
  // A response without a body stays headers-only, from which gRPC reads its status.
  const hasLength = headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-length');
  const mayHaveBody = status !== 204 && status !== 304 && response.req.method !== 'HEAD';
  const isEmpty = isComplete && !hasLength && mayHaveBody;
  startResponse(response, status, isEmpty ? [...headers, 'Content-Length', '0'] : headers);
  if (!isComplete) response.write(Buffer.alloc(0));
}

/** Returns pairs as headers of HTTP/2, with the Host as its authority. */
function toHttp2Headers(pairs: readonly string[]): Http2Headers {
  const headers: Http2Headers = {};
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const lowerName = (pairs[index] ?? '').toLowerCase();
    const name = lowerName === 'host' ? ':authority' : lowerName;
    const value = pairs[index + 1] ?? '';
    const existing = findOwn(headers, name);
    headers[name] = existing === undefined ? value : [existing, value].flat();
  }
  return headers;
}
