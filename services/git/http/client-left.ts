import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';

/** Whether a request failed because its client closed the connection before it had sent or read everything. */
export function clientLeft(request: IncomingMessage, response: ServerResponse, error: unknown): boolean {
  if (error instanceof Problem) return false;
  return (request.destroyed && !request.complete) || response.destroyed;
}
