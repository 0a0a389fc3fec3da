import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { discardBody, linger, type LingerLimits } from './linger.ts';
import { formatRawResponse } from './problem-reply.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  exchange: Exchange | undefined;
  /** Bytes received at the last check, and the time of the last change. */
  received: number;
  changedAt: number;
  /** The connection lingers for a client that is still sending. */
  isLingering: boolean;
}

/**
 * Open connections of a listener: detects stalled bodies and clients that continue to send after the response, and
 * ends them when the listener closes.
 */
export interface Connections extends Disposable {
  add(socket: Socket): void;
  /** Registers the current exchange of a connection. */
  startExchange(exchange: Exchange): void;
  /** Returns whether the last response was sent: further input is discarded. */
  isAnswered(socket: Socket): boolean;
  /** Returns the exchange on a socket that is not completely answered yet. */
  findExchange(socket: Socket): Exchange | undefined;
  /** Ends a connection after its last response; lingers for a client that is still sending. */
  end(socket: Socket): void;
  /** Stops lingering from now on. */
  stopLingering(): void;
  destroyAll(): void;
}

/**
 * Uses one timer for all connections, since one per request would slow down fast paths. The accuracy of `bodyStallMs`
 * is a quarter of its value.
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

  /** Node calls `destroySoon` after the last response, even while the client is still sending. */
  const lingerAfterAnswer = (socket: Socket, connection: Connection): void => {
    if (connection.isLingering) return;
    connection.isLingering = true;
    const endAtOnce = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (hurried || connection.exchange?.request.complete !== false) endAtOnce();
      else end(socket);
    };
  };

  const isStalled = (socket: Socket, connection: Connection, now: number): boolean => {
    // `readableLength` is not 0 when the service has not read the received data, so the client is not the slow side.
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
        // Releases the last request of idle connections, of which there can be ten thousand.
        if (exchange.response.writableFinished) connection.exchange = undefined;
        continue;
      }
      if (!isStalled(socket, connection, now)) continue;
      if (!exchange.response.headersSent && socket.writable)
        socket.write(formatRawResponse(408, 'The request body stopped coming.\n'));
      socket.destroySoon();
    }
  };
  const timer = setInterval(look, Math.max(10, bodyStallMs / 4)).unref();

  return {
    add(socket) {
      connections.set(socket, { exchange: undefined, received: 0, changedAt: performance.now(), isLingering: false });
      socket.once('close', () => {
        connections.delete(socket);
        lingering.delete(socket);
      });
    },
    startExchange(exchange) {
      const { request, response } = exchange;
      // Node detaches the socket from a request whose reader discarded it, so it is stored here.
      const { socket } = request;
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.exchange = exchange;
      connection.changedAt = performance.now();
      connection.received = -1;
      if (hasNoBody(request)) return;
      lingerAfterAnswer(socket, connection);
      response.once('close', () => {
        if (!request.complete && !socket.destroyed && !lingering.has(socket)) discardBody(socket, request, limits);
      });
    },
    findExchange(socket) {
      const exchange = connections.get(socket)?.exchange;
      return exchange?.response.writableFinished === false ? exchange : undefined;
    },
    isAnswered: (socket) => lingering.has(socket),
    end,
    stopLingering() {
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

/** Returns whether the request has no body: a body must be announced. */
export function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}
