import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../contracts/problem.ts';

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

const connectionErrors: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ERR_STREAM_PREMATURE_CLOSE',
  'EPIPE',
  'ABORT_ERR',
]);

/**
 * Converts an error to the Problem `http.aborted` when the client disconnected in the middle of its body, which is
 * not a failure of the server; returns other errors unchanged.
 */
export function toAbortedProblem(error: unknown, request: IncomingMessage): unknown {
  if (error instanceof Problem || !(error instanceof Error) || request.complete || !request.destroyed) return error;
  return 'code' in error && connectionErrors.has(error.code) ? buildAbortedProblem(error) : error;
}

/** Builds the Problem for a client that disconnected in the middle of its body. */
export function buildAbortedProblem(cause?: unknown): Problem {
  const detail = 'The request ended before its body was complete.';
  return new Problem('http.aborted', 400, detail, { cause, headers: { Connection: 'close' } });
}
