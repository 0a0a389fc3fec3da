import { request as ask, STATUS_CODES } from 'node:http';
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import type { DispatchHandlers, DispatchContext } from '../../contracts/dispatch.ts';
import { getGatewayIdentity } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import { answerHeaders, requestHeaders } from './headers.ts';
import { passedTrailers } from './trailers.ts';

export interface ProxyParts {
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
const announcesBody = (method: string | undefined): boolean => !isRepeatable(method) && method !== 'DELETE';
const maxAnswerHeaderBytes = 64 * 1024;

/** Passes requests to an upstream without buffering; each side ends when the other one is closed. */
export function proxyTo(id: string, { context, agent, refuse, host }: ProxyParts): DispatchHandlers {
  const send = (request: IncomingMessage, extra: readonly string[], hasBody: boolean): ClientRequest => {
    const from = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const outside = context.publicUrl(request);
    const passing = { identity: getGatewayIdentity(request), outside, from, hasBody, host: host() };
    return ask({
      ...{ agent, method: request.method ?? 'GET', path: request.url ?? '/', setHost: false },
      // Lenient parsing accepts sloppy devices; responses are framed again for the client.
      ...{ insecureHTTPParser: true, maxHeaderSize: maxAnswerHeaderBytes },
      headers: [...requestHeaders(request, passing), ...extra],
    });
  };

  return {
    request(request, response) {
      const isChunked = request.headers['transfer-encoding'] !== undefined;
      const hasBody = announcedBody(request);
      const framing = hasBody ? (isChunked ? ['Transfer-Encoding', 'chunked'] : []) : emptyBody(request);
      const giveUp = (error: unknown): void => {
        if (response.writableEnded) return;
        if (response.headersSent || response.destroyed) response.destroy();
        else refuse(request, response, toProblem(id, error, context.log));
      };
      const attempt = (): void => {
        const up = send(request, framing, hasBody);
        const leave = (): void => void up.destroy();
        let received: IncomingMessage | undefined;
        up.once('response', (answer) => {
          received = answer;
          answerWith(up, answer, response, giveUp);
        });
        up.on('information', ({ statusCode, rawHeaders }) => inform(response, statusCode, rawHeaders));
        // The client did not request an upgrade.
        up.once('upgrade', (_answer, far) => {
          far.destroy();
          giveUp(unusable());
        });
        up.once('error', (error) => {
          response.off('close', leave);
          // Data after a complete response belongs to no request; the connection is discarded.
          if (received?.complete === true) return;
          // The upstream closed an idle connection while it was reused.
          const isStale = up.reusedSocket && received === undefined && isConnectionLoss(error) && !response.destroyed;
          if (isStale && !hasBody && isRepeatable(request.method)) attempt();
          else giveUp(error);
        });
        response.once('close', leave);
        if (hasBody) return void sendBody(request, up);
        request.resume();
        up.end();
      };
      attempt();
    },

    upgrade(request, socket, head) {
      const { upgrade = 'websocket' } = request.headers;
      const up = send(request, ['Connection', 'Upgrade', 'Upgrade', upgrade], false);
      // A declined upgrade may leave the upstream reading the rest as a body, so the connection is not reused.
      up.shouldKeepAlive = false;
      const leave = (): void => void up.destroy();
      socket.once('close', leave);
      socket.once('error', leave);
      up.once('upgrade', (answer, far, rest) => {
        const lines = ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? upgrade, ...answerHeaders(answer)];
        socket.write(headOf(101, lines), 'latin1');
        if (rest.length > 0) socket.write(rest);
        if (head.length > 0) far.write(head);
        join(socket, far);
      });
      const giveUp = (error: unknown): void => {
        const { status, detail } = toProblem(id, error, context.log);
        if (!socket.destroyed && socket.writable)
          socket.end(
            `HTTP/1.1 ${String(status)} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${detail}\n`,
          );
      };
      up.once('response', (answer) => {
        try {
          const lines = ['Connection', 'close', ...answerHeaders(answer).filter(notLength)];
          socket.write(headOf(statusOf(answer), lines), 'latin1');
          passOn(answer, socket);
        } catch (error) {
          answer.destroy();
          giveUp(error);
        }
      });
      up.once('error', giveUp);
      up.end();
    },
  };
}

/** Sends the head immediately in Latin-1, as it was received: `flushHeaders` would encode it as UTF-8. */
function answerWith(
  up: ClientRequest,
  answer: IncomingMessage,
  response: ServerResponse,
  giveUp: (error: unknown) => void,
): void {
  if (response.destroyed) return void answer.destroy();
  try {
    const { 'content-length': length, 'transfer-encoding': coding } = answer.headers;
    // RFC 9112, 6.3: the connection is closed after an ambiguous framing.
    if (coding !== undefined && (length !== undefined || coding.trim().toLowerCase() !== 'chunked'))
      up.shouldKeepAlive = false;
    response.writeHead(statusOf(answer), answerHeaders(answer));
    response.write(Buffer.alloc(0));
    answer.once('end', () => {
      const trailers = passedTrailers(answer.rawTrailers);
      if (trailers.length > 0) response.addTrailers(trailers);
    });
    passOn(answer, response);
  } catch (error) {
    answer.destroy();
    // A head that failed has already set the reason phrase.
    response.statusMessage = '';
    giveUp(error);
  }
}

/** Forwards 103 Early Hints; 100 and 102 apply to a single connection. */
function inform(response: ServerResponse, status: number, raw: readonly string[]): void {
  if (status !== 103 || response.headersSent || response.destroyed) return;
  const link = raw.flatMap((value, index) =>
    index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'link' ? [value] : [],
  );
  if (link.length > 0) response.writeEarlyHints({ link });
}

/** Adds `Content-Length: 0` where servers would wait for a body. */
function emptyBody({ method }: IncomingMessage): readonly string[] {
  return announcesBody(method) ? ['Content-Length', '0'] : [];
}

/** Returns true when a body follows, also over HTTP/2, so that a body is never parsed as another request. */
export function announcedBody(request: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
  return !isStrangersPreflight(request) && (coding !== undefined || length !== undefined);
}

/** Sends a body and its trailers. */
function sendBody(request: IncomingMessage, up: ClientRequest): void {
  request.once('end', () => {
    const trailers = passedTrailers(request.rawTrailers);
    if (trailers.length > 0 && request.headers['transfer-encoding'] !== undefined) up.addTrailers(trailers);
  });
  request.pipe(up);
}

/** Logs a failure of an upstream and returns the problem for the client. */
export function toProblem(id: string, error: unknown, log: ProxyParts['context']['log']): Problem {
  log.info('upstream request failed', { upstream: id, error });
  const status = error instanceof Problem && error.status === 504 ? 504 : 502;
  return new Problem('gateway.upstream_failed', status, failureText(id, error));
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isConnectionLoss(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(getErrorCode(error));
}

/** Explains why an upstream did not respond. */
function failureText(id: string, error: unknown): string {
  if (error instanceof Problem) return `${id} does not answer. ${error.detail}`;
  const code = getErrorCode(error);
  if (code === 'HPE_HEADER_OVERFLOW') return `${id} answered with more than 64 KB of headers.`;
  if (code.startsWith('HPE_') || code === 'ERR_INVALID_CHAR') return `The answer of ${id} is not valid HTTP.`;
  if (isConnectionLoss(error)) return `${id} closed the connection before it answered.`;
  return `${id} does not answer.`;
}

/** Preflights have no body. */
function isStrangersPreflight(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    getGatewayIdentity(request) === undefined
  );
}

/** Ends the response with the connection: a length of another framing must not be trusted. */
function notLength(_each: string, at: number, all: readonly string[]): boolean {
  return (all[at - (at % 2)] ?? '').toLowerCase() !== 'content-length';
}

/**
 * The reason phrase is discarded, because the upstream controls it.
 *
 * @throws Error `HPE_INVALID_STATUS`
 */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  if (statusCode >= 200 && statusCode <= 599) return statusCode;
  throw unusable();
}

function unusable(): Error {
  return Object.assign(new Error('The answer has an invalid status code.'), { code: 'HPE_INVALID_STATUS' });
}

function headOf(status: number, headers: readonly string[]): string {
  const lines: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at] ?? ''}: ${headers[at + 1] ?? ''}`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** An aborted message must not appear complete to the other side. */
function passOn(answer: IncomingMessage, to: Writable): void {
  answer.on('error', () => to.destroy());
  answer.once('close', () => {
    if (!answer.complete) to.destroy();
  });
  answer.pipe(to);
}

function join(near: Duplex, far: Duplex): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => other.destroy());
    one.once('close', () => other.destroy());
    one.pipe(other);
  }
}
