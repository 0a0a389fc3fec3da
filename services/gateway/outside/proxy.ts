import { request as ask, type Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import type { Dispatched, DispatchContext } from '../../contracts/dispatch.ts';
import { vouchedFor } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import { answerHeaders, requestHeaders } from './headers.ts';

export interface ProxyParts {
  readonly context: Pick<DispatchContext, 'log' | 'publicUrl'>;
  readonly agent: Agent;
  /** For what is refused: as the gateway's own refusals look. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, problem: Problem) => void;
}

/** Hands requests on to an upstream: nothing is gathered, and who leaves ends the other side at once. */
export function proxyTo(id: string, { context, agent, refuse }: ProxyParts): Dispatched {
  const problemOf = (error: unknown): Problem => {
    context.log.info('an upstream did not answer', { upstream: id, error });
    const why = error instanceof Problem ? error.detail : 'It ended the connection in the middle.';
    const status = error instanceof Problem && error.status === 504 ? 504 : 502;
    return new Problem('gateway.upstream_failed', status, `${id} does not answer. ${why}`);
  };
  const send = (request: IncomingMessage, extra: readonly string[], hasBody: boolean): ClientRequest => {
    const from = (request.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const passing = { identity: vouchedFor(request), outside: context.publicUrl(request), from, hasBody };
    return ask({
      ...{ agent, method: request.method ?? 'GET', path: request.url ?? '/', setHost: false },
      headers: [...requestHeaders(request, passing), ...extra],
    });
  };

  return {
    request(request, response) {
      // A body by HTTP/2 without a length is announced so as well: it is never taken for a request of its own.
      const isChunked = request.headers['transfer-encoding'] !== undefined;
      const hasBody = !isStrangersPreflight(request) && (isChunked || request.headers['content-length'] !== undefined);
      const up = send(request, hasBody && isChunked ? ['Transfer-Encoding', 'chunked'] : [], hasBody);
      up.once('response', (answer) => {
        if (response.destroyed) return void answer.destroy();
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer));
        response.flushHeaders();
        passOn(answer, response);
      });
      up.once('error', (error) => {
        if (response.writableEnded) return;
        if (response.headersSent || response.destroyed) response.destroy();
        else refuse(request, response, problemOf(error));
      });
      response.once('close', () => up.destroy());
      if (hasBody) return void request.pipe(up);
      request.resume();
      up.end();
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
        socket.write(headOf(answer, lines));
        if (rest.length > 0) socket.write(rest);
        if (head.length > 0) far.write(head);
        join(socket, far);
      });
      up.once('response', (answer) => {
        socket.write(headOf(answer, ['Connection', 'close', ...answerHeaders(answer).filter(notLength)]));
        passOn(answer, socket);
      });
      up.once('error', (error) => {
        const { status, detail } = problemOf(error);
        if (!socket.destroyed && socket.writable)
          socket.end(`HTTP/1.1 ${String(status)} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${detail}\n`); // prettier-ignore
      });
      up.end();
    },
  };
}

/** What browsers ask before anybody has signed in has no body. */
function isStrangersPreflight(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && vouchedFor(request) === undefined; // prettier-ignore
}

/** Ends with the connection, whatever length was said: a length of another framing would be believed. */
function notLength(_each: string, at: number, all: readonly string[]): boolean {
  return (all[at - (at % 2)] ?? '').toLowerCase() !== 'content-length';
}

function headOf({ statusCode = 502, statusMessage = '' }: IncomingMessage, headers: readonly string[]): string {
  const lines: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at] ?? ''}: ${headers[at + 1] ?? ''}`);
  return `HTTP/1.1 ${String(statusCode)} ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`;
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
