import * as m from '#messages/gateway-problems';
import { request as httpRequest, STATUS_CODES } from 'node:http';
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import type { DispatchHandlers, DispatchContext } from '../../contracts/dispatch.ts';
import { getGatewayIdentity } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import { startResponse } from '../../kit/http/respond.ts';
import { stripMappedPrefix } from '../domain/names.ts';
import { refuseUpgrade } from '../pages/responses.ts';
import { buildResponseHeaders, buildRequestHeaders } from './headers.ts';
import { filterTrailers } from './trailers.ts';

export interface ProxyDependencies {
  readonly context: Pick<DispatchContext, 'log' | 'publicUrl'>;
  readonly agent: Agent;
  /** Returns the Host header for the upstream when it differs from the client's. */
  readonly host: () => string | undefined;
  /** Renders rejections like those of the gateway. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, problem: Problem) => void;
}

/** Safe methods, which a proxy may send again (RFC 9110). */
export const isRepeatable = (method: string | undefined): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE';
/** Methods for which servers expect `Content-Length: 0`. */
const expectsLength = (method: string | undefined): boolean => !isRepeatable(method) && method !== 'DELETE';
const maxResponseHeaderBytes = 64 * 1024;

/** Passes requests to an upstream over HTTP/1.1 without buffering; each side ends when the other one is closed. */
export class Http1Proxy implements DispatchHandlers {
  readonly #id: string;
  readonly #deps: ProxyDependencies;

  constructor(id: string, deps: ProxyDependencies) {
    this.#id = id;
    this.#deps = deps;
  }

  readonly request = (request: IncomingMessage, response: ServerResponse): void => this.#forward(request, response);

  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { upgrade = 'websocket' } = request.headers;
    const upstreamRequest = this.#open(request, ['Connection', 'Upgrade', 'Upgrade', upgrade], false);
    // A declined upgrade may leave the upstream reading the rest as a body, so the connection is not reused.
    upstreamRequest.shouldKeepAlive = false;
    const abortUpstream = (): void => void upstreamRequest.destroy();
    socket.once('close', abortUpstream);
    socket.once('error', abortUpstream);
    upstreamRequest.once('upgrade', (upstreamResponse, upstreamSocket, firstBytes) => {
      const lines = [
        'Connection',
        'Upgrade',
        'Upgrade',
        upstreamResponse.headers.upgrade ?? upgrade,
        ...buildResponseHeaders(upstreamResponse),
      ];
      socket.write(formatHead(101, lines), 'latin1');
      if (firstBytes.length > 0) socket.write(firstBytes);
      if (head.length > 0) upstreamSocket.write(head);
      connectSockets(socket, upstreamSocket);
    });
    const fail = (error: unknown): void => refuseUpgrade(socket, toProblem(this.#id, error, this.#deps.context.log));
    upstreamRequest.once('response', (upstreamResponse) => {
      try {
        const lines = ['Connection', 'close', ...buildResponseHeaders(upstreamResponse).filter(isNotContentLength)];
        socket.write(formatHead(getStatus(upstreamResponse), lines), 'latin1');
        // The body has begun, so an error can no longer be answered.
        upstreamRequest.off('error', fail).on('error', () => socket.destroy());
        pipeResponse(upstreamResponse, socket);
      } catch (error) {
        upstreamResponse.destroy();
        fail(error);
      }
    });
    upstreamRequest.once('error', fail);
    upstreamRequest.end();
  };

  #forward(request: IncomingMessage, response: ServerResponse): void {
    const hasBody = hasRequestBody(request);
    const upstreamRequest = this.#open(request, buildFramingHeaders(request, hasBody), hasBody);
    const fail = (error: unknown): void => this.#fail(request, response, error);
    const abortUpstream = (): void => void upstreamRequest.destroy();
    let received: IncomingMessage | undefined;
    upstreamRequest.once('response', (upstreamResponse) => {
      received = upstreamResponse;
      sendResponse(upstreamRequest, upstreamResponse, response, fail);
    });
    upstreamRequest.on('information', ({ statusCode, rawHeaders }) => sendEarlyHints(response, statusCode, rawHeaders));
    // The client did not request an upgrade.
    upstreamRequest.once('upgrade', (_answer, upstreamSocket) => {
      upstreamSocket.destroy();
      fail(createInvalidResponse());
    });
    upstreamRequest.once('error', (error) => {
      response.off('close', abortUpstream);
      // Data after a complete response belongs to no request; the connection is discarded.
      if (received?.complete === true) return;
      // The upstream closed an idle connection while it was reused.
      const isStale =
        upstreamRequest.reusedSocket && received === undefined && isConnectionLoss(error) && !response.destroyed;
      if (isStale && !hasBody && isRepeatable(request.method)) this.#forward(request, response);
      else fail(error);
    });
    response.once('close', abortUpstream);
    if (hasBody) return void sendBody(request, upstreamRequest);
    request.resume();
    upstreamRequest.end();
  }

  #open(request: IncomingMessage, extraHeaders: readonly string[], hasBody: boolean): ClientRequest {
    const { agent, context, host } = this.#deps;
    const clientAddress = stripMappedPrefix(request.socket.remoteAddress);
    const publicUrl = context.publicUrl(request);
    const forwardedRequest = { identity: getGatewayIdentity(request), publicUrl, clientAddress, hasBody, host: host() };
    return httpRequest({
      agent,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      setHost: false,
      // Lenient parsing accepts sloppy devices; responses are framed again for the client.
      insecureHTTPParser: true,
      maxHeaderSize: maxResponseHeaderBytes,
      headers: [...buildRequestHeaders(request, forwardedRequest), ...extraHeaders],
    });
  }

  #fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.writableEnded) return;
    if (response.headersSent || response.destroyed) response.destroy();
    else this.#deps.refuse(request, response, toProblem(this.#id, error, this.#deps.context.log));
  }
}

/** Sends the head immediately in Latin-1, as it was received: `flushHeaders` would encode it as UTF-8. */
function sendResponse(
  upstreamRequest: ClientRequest,
  upstreamResponse: IncomingMessage,
  response: ServerResponse,
  fail: (error: unknown) => void,
): void {
  if (response.destroyed) return void upstreamResponse.destroy();
  try {
    const { 'content-length': length, 'transfer-encoding': coding } = upstreamResponse.headers;
    // Other codings, such as gzip, would have to be decoded before the body is framed again.
    if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') throw createInvalidResponse();
    // RFC 9112, 6.3: the connection is closed after an ambiguous framing.
    if (coding !== undefined && length !== undefined) upstreamRequest.shouldKeepAlive = false;
    startResponse(response, getStatus(upstreamResponse), buildResponseHeaders(upstreamResponse));
    response.write(Buffer.alloc(0));
    upstreamResponse.once('end', () => {
      const trailers = filterTrailers(upstreamResponse.rawTrailers);
      if (trailers.length > 0) response.addTrailers(trailers);
    });
    pipeResponse(upstreamResponse, response);
  } catch (error) {
    upstreamResponse.destroy();
    // A head that failed has already set the reason phrase.
    response.statusMessage = '';
    fail(error);
  }
}

/** Forwards 103 Early Hints; 100 and 102 apply to a single connection. */
function sendEarlyHints(response: ServerResponse, status: number, raw: readonly string[]): void {
  if (status !== 103 || response.headersSent || response.destroyed) return;
  const link = raw.flatMap((value, index) =>
    index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'link' ? [value] : [],
  );
  if (link.length > 0) response.writeEarlyHints({ link });
}

/** Builds the header that frames the body; `Content-Length: 0` where servers would wait for a body. */
function buildFramingHeaders({ headers, method }: IncomingMessage, hasBody: boolean): readonly string[] {
  if (hasBody) return headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
  return expectsLength(method) ? ['Content-Length', '0'] : [];
}

/** Returns true when a body follows, also over HTTP/2, so that a body is never parsed as another request. */
export function hasRequestBody(request: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
  return !isAnonymousPreflight(request) && (coding !== undefined || length !== undefined);
}

/** Sends a body and its trailers. */
function sendBody(request: IncomingMessage, upstreamRequest: ClientRequest): void {
  request.once('end', () => {
    const trailers = filterTrailers(request.rawTrailers);
    if (trailers.length > 0 && request.headers['transfer-encoding'] !== undefined)
      upstreamRequest.addTrailers(trailers);
  });
  let hasBegun = false;
  request.once('data', () => (hasBegun = true));
  request.pipe(upstreamRequest);
  // The upstream may answer the head, or wait for it, before the client sends any content.
  setImmediate(() => {
    if (!hasBegun && !upstreamRequest.destroyed && !upstreamRequest.writableEnded)
      upstreamRequest.write(Buffer.alloc(0));
  });
}

/** Logs a failure of an upstream and returns the problem for the client. */
export function toProblem(id: string, error: unknown, log: ProxyDependencies['context']['log']): Problem {
  log.info('upstream request failed', { upstream: id, error });
  const status = error instanceof Problem && error.status === 504 ? 504 : 502;
  return new Problem('gateway.upstream_failed', status, () => formatFailure(id, error));
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isConnectionLoss(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(getErrorCode(error));
}

/** Explains why an upstream did not respond. */
function formatFailure(id: string, error: unknown): string {
  if (error instanceof Problem) return m.externalNoResponseReason({ id, reason: error.detail });
  const code = getErrorCode(error);
  if (code === 'HPE_HEADER_OVERFLOW') return m.externalHeadersTooLarge({ id });
  if (code.startsWith('HPE_') || code === 'ERR_INVALID_CHAR') return m.externalInvalidResponse({ id });
  if (isConnectionLoss(error)) return m.externalClosedConnection({ id });
  return m.externalNoResponse({ id });
}

/** Preflights have no body. */
function isAnonymousPreflight(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    getGatewayIdentity(request) === undefined
  );
}

/** Ends the response with the connection: a length of another framing must not be trusted. */
function isNotContentLength(_each: string, index: number, all: readonly string[]): boolean {
  return (all[index - (index % 2)] ?? '').toLowerCase() !== 'content-length';
}

/**
 * The reason phrase is discarded, because the upstream controls it.
 *
 * @throws Error `HPE_INVALID_STATUS`
 */
function getStatus({ statusCode = 0 }: IncomingMessage): number {
  if (statusCode >= 200 && statusCode <= 599) return statusCode;
  throw createInvalidResponse();
}

function createInvalidResponse(): Error {
  return Object.assign(new Error('The answer has an invalid status code.'), { code: 'HPE_INVALID_STATUS' });
}

function formatHead(status: number, headers: readonly string[]): string {
  const lines: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2)
    lines.push(`${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** An aborted message must not appear complete to the other side. */
function pipeResponse(upstreamResponse: IncomingMessage, destination: Writable): void {
  upstreamResponse.on('error', () => destination.destroy());
  upstreamResponse.once('close', () => {
    if (!upstreamResponse.complete) destination.destroy();
  });
  upstreamResponse.pipe(destination);
}

function connectSockets(clientSocket: Duplex, upstreamSocket: Duplex): void {
  for (const [source, target] of [
    [clientSocket, upstreamSocket],
    [upstreamSocket, clientSocket],
  ] as const) {
    source.on('error', () => target.destroy());
    source.once('close', () => target.destroy());
    source.pipe(target);
  }
}
