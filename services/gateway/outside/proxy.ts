import { request as ask, STATUS_CODES } from 'node:http';
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
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
      const giveUp = (error: unknown): void => {
        if (response.writableEnded) return;
        if (response.headersSent || response.destroyed) response.destroy();
        else refuse(request, response, problemOf(error));
      };
      up.once('response', (answer) => {
        if (response.destroyed) return void answer.destroy();
        try {
          response.writeHead(statusOf(answer), answerHeaders(answer));
          response.flushHeaders();
          passOn(answer, response);
        } catch (error) {
          answer.destroy();
          giveUp(error);
        }
      });
      // Nobody asked for another protocol.
      up.once('upgrade', (_answer, far) => {
        far.destroy();
        giveUp(unusable());
      });
      up.once('error', giveUp);
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
        socket.write(headOf(101, lines));
        if (rest.length > 0) socket.write(rest);
        if (head.length > 0) far.write(head);
        join(socket, far);
      });
      const giveUp = (error: unknown): void => {
        const { status, detail } = problemOf(error);
        if (!socket.destroyed && socket.writable)
          socket.end(`HTTP/1.1 ${String(status)} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${detail}\n`); // prettier-ignore
      };
      up.once('response', (answer) => {
        try {
          socket.write(headOf(statusOf(answer), ['Connection', 'close', ...answerHeaders(answer).filter(notLength)]));
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

/** What browsers ask before anybody has signed in has no body. */
function isStrangersPreflight(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && vouchedFor(request) === undefined; // prettier-ignore
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
