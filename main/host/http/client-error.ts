import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { rawAnswer } from './problem-reply.ts';

/** What to say to a client whose bytes are no HTTP; Node's error codes on the left. */
const answers: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request line and headers are too large.\n'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.\n'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.\n'],
};

/**
 * Answers a request that could not be read and ends its connection; a request before it on the same connection that was
 * read in full still gets its own answer. Returns the status that was sent, if any.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  connections: Connections,
): number | undefined {
  // The rest of what was refused, or what was no HTTP already.
  if (connections.isOver(socket)) return undefined;
  const running = connections.running(socket);
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  if (running?.request.complete === true) {
    running.response.once('close', () => socket.destroySoon());
    return undefined;
  }
  if (running?.response.headersSent === true) {
    socket.destroy();
    return undefined;
  }
  const [status, text] = answers[error.code ?? ''] ?? [400, 'This is not an HTTP request.\n'];
  socket.write(rawAnswer(status, text));
  connections.end(socket);
  return status;
}
