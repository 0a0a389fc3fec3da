import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../../services/contracts/problem.ts';
import { accountFor } from './access.ts';
import { hasNoBody } from './connections.ts';
import { sendProblem } from './problem-reply.ts';

/** As a service is refused that has no words of its own for it. */
export function sendRefusal(_request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  sendProblem(response, problem);
}

export function notRunning(): Problem {
  return new Problem(
    'listener.not_running',
    503,
    'The service is starting or has been stopped. Try again in a moment.',
    {
      headers: { 'Retry-After': '2' },
    },
  );
}

/** A refused request may bring gigabytes of body; the connection ends with the answer. */
export function closing(response: ServerResponse, request: IncomingMessage, problem: Problem): Problem {
  for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
  if (!request.complete && !hasNoBody(request)) response.setHeader('Connection', 'close');
  return problem;
}

/** Lets the service's own renderer refuse an upgrade, for which Node makes no response object. */
export function responseOn(
  socket: Socket,
  request: IncomingMessage,
  access: Parameters<typeof accountFor>[2],
): ServerResponse {
  const response = new ServerResponse(request);
  accountFor(request, response, access);
  response.setHeader('Connection', 'close');
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  return response;
}
