import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { isSafe } from './origin.ts';

/** Maximum duration in ms of a response after its client stopped sending. */
const maxAnswerMs = 30_000;

/**
 * Answers clients that half-close the connection after a request that changes something, as `nc` and small devices
 * do. By default Node closes the other side before the service has answered, and a request that waits for password
 * verification would be lost. For read requests, and once a response has begun, a half-closed connection still counts
 * as disconnected.
 */
export function answerHalfOpen(server: Server, connections: Pick<Connections, 'findExchange'>): void {
  // Property of Node's server that is missing in its types.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => {
    socket.once('end', () => {
      const running = connections.findExchange(socket);
      if (running === undefined) return;
      if (running.response.headersSent || isSafe(running.request.method)) {
        socket.end();
        return;
      }
      const late = setTimeout(() => socket.destroySoon(), maxAnswerMs).unref();
      socket.once('close', () => clearTimeout(late));
    });
  });
}
