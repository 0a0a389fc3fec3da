import * as m from '#messages/kit-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Log, Random } from '../../contracts/service.ts';
import { isDisconnectError } from './disconnect-signal.ts';
import { addHeaders, sendReply, type Reply } from './respond.ts';

/** Log and random source of a service, for {@link toProblem}. */
export interface ErrorContext {
  readonly log: Log;
  readonly random: Random;
}

/**
 * Converts a thrown value to a problem. Anything but a problem is a defect: it is logged under the id that the client
 * receives, which gets no other detail. Problems with a status of 500 or more are logged as well.
 * @param code code of the problem for a defect, such as `git.failed`
 */
export function toProblem(
  error: unknown,
  { log, random }: ErrorContext,
  code: string,
  about: Readonly<Record<string, unknown>> = {},
): Problem {
  if (error instanceof Problem) {
    if (error.status >= 500) log.warn('request failed', { event: 'request_failed', ...about, code: error.code, error });
    return error;
  }
  const id = random.text(12);
  log.error('request failed with internal error', { event: 'request_failed', ...about, id, error });
  return new Problem(code, 500, () => m.internalError({ id }), { cause: error });
}

/** Renders the problems of a listener. */
export interface ErrorResponder extends ErrorContext {
  /** Code of the problem for a defect. */
  readonly code: string;
  /** Renders a problem, including its header fields, in the format of the peer. */
  readonly render: (problem: Problem, request: IncomingMessage) => Reply;
}

/**
 * Answers a failed request. A response that has already begun is cut off, so that it never looks complete; a client
 * that disconnected needs none.
 */
export function respondToError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  responder: ErrorResponder,
): void {
  const about = { method: request.method, path: getPath(request) };
  if (isDisconnectError(request, response, error)) {
    responder.log.debug('client disconnected', { ...about, error });
    response.destroy();
    return;
  }
  const problem = toProblem(error, responder, responder.code, about);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  endUnread(request, response);
  sendReply(response, responder.render(problem, request));
}

/**
 * Ends the connection with the response when the body was not read, since its rest would be parsed as the next request.
 * HTTP/2 has no such header, since the end of a stream leaves its connection open.
 */
export function endUnread(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete && request.httpVersionMajor < 2) addHeaders(response, { Connection: 'close' });
}

/** Returns the path of a request without its query, which may contain secrets. */
export function getPath({ url = '/' }: IncomingMessage): string {
  const queryAt = url.indexOf('?');
  return queryAt < 0 ? url : url.slice(0, queryAt);
}
