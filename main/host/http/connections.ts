import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { dropRest, linger, type LingerLimits } from './linger.ts';
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
  /** Its end waits for a client that is still sending. */
  isHeardOut: boolean;
}

/**
 * The open connections of a listener: watched for bodies that stand still and for clients that send on when they were
 * answered, and ended when it closes.
 */
export interface Connections extends Disposable {
  add(socket: Socket): void;
  /** Remembers what a connection is busy with. */
  began(exchange: Exchange): void;
  /** Whether its last answer was given: what still comes is read and dropped. */
  isOver(socket: Socket): boolean;
  /** What is not answered to its end yet on a socket. */
  running(socket: Socket): Exchange | undefined;
  /** Ends a connection after its last answer, hearing out a client that is still sending. */
  end(socket: Socket): void;
  /** From now on nobody is heard out. */
  hurry(): void;
  destroyAll(): void;
}

/**
 * One timer looks after all connections, since one per request would be felt on the fast paths. `bodyStallMs` is met
 * within a quarter of itself.
 */
export function watchConnections({
  bodyStallMs,
  ...limits
}: LingerLimits & { readonly bodyStallMs: number }): Connections {
  const connections = new Map<Socket, Connection>();
  const lingering = new Set<Socket>();
  let hurried = false;

  const end = (socket: Socket): void => {
    if (socket.destroyed || lingering.has(socket)) return;
    const connection = connections.get(socket);
    if (hurried || connection === undefined) return void socket.destroySoon();
    const request = connection.exchange?.request;
    connection.exchange = undefined;
    lingering.add(socket);
    linger(socket, request?.complete === false ? request : undefined, limits);
  };

  /** Node ends a connection by `destroySoon` once it has sent the last answer, whatever still comes. */
  const hearOut = (socket: Socket, connection: Connection): void => {
    if (connection.isHeardOut) return;
    connection.isHeardOut = true;
    const endAtOnce = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (hurried || connection.exchange?.request.complete !== false) endAtOnce();
      else end(socket);
    };
  };

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
      connections.set(socket, { exchange: undefined, received: 0, changedAt: performance.now(), isHeardOut: false });
      socket.once('close', () => {
        connections.delete(socket);
        lingering.delete(socket);
      });
    },
    began(exchange) {
      const { request, response } = exchange;
      // Node takes the socket from a request that its reader threw away, so it is kept from here on.
      const { socket } = request;
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.exchange = exchange;
      connection.changedAt = performance.now();
      connection.received = -1;
      if (hasNoBody(request)) return;
      hearOut(socket, connection);
      response.once('close', () => {
        if (!request.complete && !socket.destroyed && !lingering.has(socket)) dropRest(socket, request, limits);
      });
    },
    running(socket) {
      const exchange = connections.get(socket)?.exchange;
      return exchange?.response.writableFinished === false ? exchange : undefined;
    },
    isOver: (socket) => lingering.has(socket),
    end,
    hurry() {
      hurried = true;
      for (const socket of lingering) socket.destroy();
    },
    destroyAll() {
      for (const socket of connections.keys()) socket.destroy();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}

/** A body, where there is one, was announced. */
export function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}
