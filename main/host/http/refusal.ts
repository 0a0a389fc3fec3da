import * as m from '#messages/host-problems';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../../services/contracts/problem.ts';
import { addHeaders } from '../../../services/kit/http/respond.ts';
import { recordRequest } from './access.ts';
import { hasNoBody } from './connections.ts';
import { sendProblem } from './problem-reply.ts';

/** Default refusal for services without an error format. */
export function sendRefusal(_request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  sendProblem(response, problem);
}

export function buildNotRunningProblem(): Problem {
  return new Problem('listener.not_running', 503, m.serviceNotRunning, {
    headers: { 'Retry-After': '2' },
  });
}

/** A refused request may have a body of gigabytes, so the connection ends with the response. */
export function closeAfterProblem(response: ServerResponse, request: IncomingMessage, problem: Problem): Problem {
  addHeaders(response, problem.headers);
  if (!request.complete && !hasNoBody(request)) addHeaders(response, { Connection: 'close' });
  return problem;
}

/**
 * Creates a response on the socket of an upgrade, for which Node has no response object, so that the service's own
 * renderer can refuse it.
 */
export function createResponseOnSocket(
  socket: Socket,
  request: IncomingMessage,
  access: Parameters<typeof recordRequest>[2],
): ServerResponse {
  const response = new ServerResponse(request);
  recordRequest(request, response, access);
  addHeaders(response, { Connection: 'close' });
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  return response;
}
