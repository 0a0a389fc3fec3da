import * as m from '#messages/kit-problems';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';

/**
 * Returns a signal that aborts when the client disconnects before the response is complete: its connection is closed,
 * or it stops sending, which is how a killed program or `Connection: close` appears.
 */
export function createDisconnectSignal(
  request: IncomingMessage,
  response: ServerResponse,
  reason = 'the client has disconnected',
): AbortSignal {
  const controller = new AbortController();
  // A batch adds a listener for each of its calls.
  setMaxListeners(0, controller.signal);
  const { socket } = request;
  const abortUnlessFinished = (): void => {
    if (!response.writableFinished) controller.abort(new Error(reason));
  };
  socket.once('end', abortUnlessFinished);
  response.once('close', () => {
    socket.off('end', abortUnlessFinished);
    abortUnlessFinished();
  });
  if (socket.readableEnded) abortUnlessFinished();
  return controller.signal;
}

/**
 * Returns a signal that aborts when the connection is closed before the response is complete. A client that only stops
 * sending still reads its answer, unlike with `createDisconnectSignal`.
 */
export function createCloseSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

/** Error codes of Node that a closed connection causes in the streams on both sides of it. */
const connectionErrors: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'EPIPE',
  'ABORT_ERR',
  // A compressed body that ends too early.
  'Z_BUF_ERROR',
]);

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && connectionErrors.has(error.code));
}

/**
 * Returns whether a request failed only because its client closed the connection before it had sent or read everything,
 * which is not a failure of the service and needs no response. Any other failure is reported, whether or not its client
 * is still connected.
 */
export function isDisconnectError(request: IncomingMessage, response: ServerResponse, error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'http.aborted';
  const isCutShort = !request.complete && (request.destroyed || request.errored !== null);
  const isUnread = response.destroyed && !response.writableFinished;
  return (isCutShort || isUnread) && isConnectionError(error);
}

/**
 * Converts an error to the Problem `http.aborted` when the client disconnected in the middle of its body, which is
 * not a failure of the server; returns other errors unchanged.
 */
export function toAbortedProblem(error: unknown, request: IncomingMessage): unknown {
  if (error instanceof Problem || request.complete || !request.destroyed) return error;
  return isConnectionError(error) ? buildAbortedProblem(error) : error;
}

/** Builds the Problem for a client that disconnected in the middle of its body. */
export function buildAbortedProblem(cause?: unknown): Problem {
  return new Problem('http.aborted', 400, m.bodyCutOff(), { cause, headers: { Connection: 'close' } });
}
