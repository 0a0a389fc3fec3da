import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { rawAnswer } from './problem-reply.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  exchange: Exchange | undefined;
  /** What the socket had received at the last look, and when that changed. */
  received: number;
  changedAt: number;
}

/** The open connections of a listener: watched for bodies that stand still, and ended when it closes. */
export interface Connections extends Disposable {
  add(socket: Socket): void;
  /** Remembers what a connection is busy with. */
  began(exchange: Exchange): void;
  /** What is not answered to its end yet on a socket. */
  running(socket: Socket): Exchange | undefined;
  destroyAll(): void;
}

/**
 * One timer looks after all connections, since one per request would be felt on the fast paths. `bodyStallMs` is met
 * within a quarter of itself.
 */
export function watchConnections(bodyStallMs: number): Connections {
  const connections = new Map<Socket, Connection>();

  const standsStill = (socket: Socket, connection: Connection, now: number): boolean => {
    // `readableLength`: the service has not taken what is there, so it is not the client who is slow.
    if (socket.bytesRead === connection.received && connection.exchange?.request.readableLength === 0) {
      return now - connection.changedAt > bodyStallMs;
    }
    connection.received = socket.bytesRead;
    connection.changedAt = now;
    return false;
  };

  const look = (): void => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const { exchange } = connection;
      if (exchange === undefined) continue;
      if (exchange.request.complete) {
        // Ten thousand idle connections should not keep their last request alive.
        if (exchange.response.writableFinished) connection.exchange = undefined;
        continue;
      }
      if (!standsStill(socket, connection, now)) continue;
      if (!exchange.response.headersSent && socket.writable)
        socket.write(rawAnswer(408, 'The request body stopped coming.\n'));
      socket.destroySoon();
    }
  };
  const timer = setInterval(look, Math.max(10, bodyStallMs / 4)).unref();

  return {
    add(socket) {
      connections.set(socket, { exchange: undefined, received: 0, changedAt: performance.now() });
      socket.once('close', () => connections.delete(socket));
    },
    began(exchange) {
      const connection = connections.get(exchange.request.socket);
      if (connection === undefined) return;
      connection.exchange = exchange;
      connection.changedAt = performance.now();
      connection.received = -1;
    },
    running(socket) {
      const exchange = connections.get(socket)?.exchange;
      return exchange?.response.writableFinished === false ? exchange : undefined;
    },
    destroyAll() {
      for (const socket of connections.keys()) socket.destroy();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
