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
  /** Returns the Host header that the upstream expects, if it is not that of the client. */
  readonly host: () => string | undefined;
  /** For what is refused: as the gateway's own refusals look. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, problem: Problem) => void;
}

/** Request methods that change nothing: RFC 9110 lets a proxy send them again. */
export const isRepeatable = (method: string | undefined): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE';
/** Methods that announce an empty body, because servers expect one. */
const announcesBody = (method: string | undefined): boolean => !isRepeatable(method) && method !== 'DELETE';
const maxAnswerHeaderBytes = 64 * 1024;

/** Hands requests on to an upstream: nothing is gathered, and who leaves ends the other side at once. */
export function proxyTo(id: string, { context, agent, refuse, host }: ProxyParts): DispatchHandlers {
  const send = (request: IncomingMessage, extra: readonly string[], hasBody: boolean): ClientRequest => {
    const from = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const outside = context.publicUrl(request);
    const passing = { identity: getGatewayIdentity(request), outside, from, hasBody, host: host() };
    return ask({
      ...{ agent, method: request.method ?? 'GET', path: request.url ?? '/', setHost: false },
      // Devices with careless HTTP are understood; their answers are framed again for the client.
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
        else refuse(request, response, problemOf(id, error, context.log));
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
        // Nobody asked for another protocol.
        up.once('upgrade', (_answer, far) => {
          far.destroy();
          giveUp(unusable());
        });
        up.once('error', (error) => {
          response.off('close', leave);
          // What follows a whole answer belongs to no request; the connection is not used again.
          if (received?.complete === true) return;
          // The upstream closed an idle connection at the moment of its next use.
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
      // Whoever is not sure what an upgrade asked for may read on in what it takes for a body.
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
        const { status, detail } = problemOf(id, error, context.log);
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

/** Sends the head at once, as Latin-1 like it came: `flushHeaders` would encode its bytes as UTF-8. */
function answerWith(
  up: ClientRequest,
  answer: IncomingMessage,
  response: ServerResponse,
  giveUp: (error: unknown) => void,
): void {
  if (response.destroyed) return void answer.destroy();
  try {
    const { 'content-length': length, 'transfer-encoding': coding } = answer.headers;
    // RFC 9112, 6.3: after a doubtful framing nothing more is read from the connection.
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
    giveUp(error);
  }
}

/** Passes 103 Early Hints on; 100 and 102 concern one connection only. */
function inform(response: ServerResponse, status: number, raw: readonly string[]): void {
  if (status !== 103 || response.headersSent || response.destroyed) return;
  const link = raw.flatMap((value, index) =>
    index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'link' ? [value] : [],
  );
  if (link.length > 0) response.writeEarlyHints({ link });
}

/** A request without a body says so where servers would wait for one. */
function emptyBody({ method }: IncomingMessage): readonly string[] {
  return announcesBody(method) ? ['Content-Length', '0'] : [];
}

/** Whether a body follows, which HTTP/2 announces as well: a body is never taken for a request of its own. */
export function announcedBody(request: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
  return !isStrangersPreflight(request) && (coding !== undefined || length !== undefined);
}

/** Sends a body and the trailers that follow it. */
function sendBody(request: IncomingMessage, up: ClientRequest): void {
  request.once('end', () => {
    const trailers = passedTrailers(request.rawTrailers);
    if (trailers.length > 0 && request.headers['transfer-encoding'] !== undefined) up.addTrailers(trailers);
  });
  request.pipe(up);
}

/** Logs the failure of an upstream and returns what its client is told. */
export function problemOf(id: string, error: unknown, log: ProxyParts['context']['log']): Problem {
  log.info('an upstream did not answer', { upstream: id, error });
  const status = error instanceof Problem && error.status === 504 ? 504 : 502;
  return new Problem('gateway.upstream_failed', status, failureText(id, error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isConnectionLoss(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(codeOf(error));
}

/** Says why an upstream did not answer. */
function failureText(id: string, error: unknown): string {
  if (error instanceof Problem) return `${id} does not answer. ${error.detail}`;
  const code = codeOf(error);
  if (code === 'HPE_HEADER_OVERFLOW') return `${id} answered with more than 64 KB of headers.`;
  if (code.startsWith('HPE_') || code === 'ERR_INVALID_CHAR') return `The answer of ${id} is not valid HTTP.`;
  if (isConnectionLoss(error)) return `${id} closed the connection before it answered.`;
  return `${id} does not answer.`;
}

/** What browsers ask before anybody has signed in has no body. */
function isStrangersPreflight(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    getGatewayIdentity(request) === undefined
  );
}

/** Ends with the connection, whatever length was said: a length of another framing would be believed. */
function notLength(_each: string, at: number, all: readonly string[]): boolean {
  return (all[at - (at % 2)] ?? '').toLowerCase() !== 'content-length';
}

/** Its words for it are left out: they hold whatever the upstream likes. @throws Problem `gateway.upstream_failed` (502) */
function statusOf({ statusCode = 0 }: IncomingMessage): number {
  if (statusCode >= 200 && statusCode <= 599) return statusCode;
  throw unusable();
}

function unusable(): Problem {
  return new Problem('gateway.upstream_failed', 502, 'Its answer is none of HTTP.');
}

function headOf(status: number, headers: readonly string[]): string {
  const lines: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at] ?? ''}: ${headers[at + 1] ?? ''}`);
  return `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** What breaks off in the middle must not look whole to the other side. */
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
