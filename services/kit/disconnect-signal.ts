import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../contracts/problem.ts';

/**
 * Returns a signal that aborts when the client leaves before the response is complete: its connection is closed, or it
 * stops sending, which is all that a killed program or `Connection: close` shows of its end.
 */
export function createDisconnectSignal(
  request: IncomingMessage,
  response: ServerResponse,
  reason = 'the client has disconnected',
): AbortSignal {
  const controller = new AbortController();
  // A batch waits for it once for each of its calls.
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
 * Returns the Problem `http.aborted` for an error that only says that the client left in the middle of its body, which is
 * no failure of ours and not worth an error in the log; any other error as it is.
 */
export function toAbortedProblem(error: unknown, request: IncomingMessage): unknown {
  if (error instanceof Problem || !(error instanceof Error) || request.complete || !request.destroyed) return error;
  return 'code' in error && connectionErrors.has(error.code) ? buildAbortedProblem(error) : error;
}

/** Says that the client left in the middle of its body. */
export function buildAbortedProblem(cause?: unknown): Problem {
  const detail = 'The request ended before its body was complete.';
  return new Problem('http.aborted', 400, detail, { cause, headers: { Connection: 'close' } });
}
