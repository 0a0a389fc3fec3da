import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { isSafe } from './origin.ts';

/** An answer that has not ended this long after its client stopped sending goes to nobody; ms. */
const longestAnswer = 30_000;

/**
 * Answers clients that end their side of the connection with a request that changes something, as `nc` and small devices
 * do. Node would end the other side before the service has answered, and a request that waits for its sender's password
 * would be lost. Who only reads has left, as before, and so has the client of an answer that has begun.
 */
export function answerHalfOpen(server: Server, connections: Pick<Connections, 'running'>): void {
  // Part of Node's server, though not of its types.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => {
    socket.once('end', () => {
      const running = connections.running(socket);
      if (running === undefined) return;
      if (running.response.headersSent || isSafe(running.request.method)) {
        socket.end();
        return;
      }
      const late = setTimeout(() => socket.destroySoon(), longestAnswer).unref();
      socket.once('close', () => clearTimeout(late));
    });
  });
}
