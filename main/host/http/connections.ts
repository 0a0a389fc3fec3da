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

type ConnectionLimits = LingerLimits & { readonly bodyStallMs: number };

/** Watches the connections of a listener. */
export function watchConnections(limits: ConnectionLimits): Connections {
  return new ConnectionWatch(limits);
}

/**
 * Uses one timer for all connections, since one per request would slow down fast paths. The accuracy of `bodyStallMs`
 * is a quarter of its value.
 */
class ConnectionWatch implements Connections {
  readonly #limits: ConnectionLimits;
  readonly #connections = new Map<Socket, Connection>();
  readonly #lingering = new Set<Socket>();
  readonly #timer: NodeJS.Timeout;
  #isLingeringStopped = false;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
    this.#timer = setInterval(() => this.#endStalled(), Math.max(10, limits.bodyStallMs / 4)).unref();
  }

  add(socket: Socket): void {
    const changedAt = performance.now();
    this.#connections.set(socket, { exchange: undefined, received: 0, changedAt, isLingering: false });
    socket.once('close', () => {
      this.#connections.delete(socket);
      this.#lingering.delete(socket);
    });
  }

  startExchange(exchange: Exchange): void {
    const { request, response } = exchange;
    // Node detaches the socket from a request whose reader discarded it, so it is stored here.
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    connection.exchange = exchange;
    connection.changedAt = performance.now();
    connection.received = -1;
    if (hasNoBody(request)) return;
    this.#lingerAfterAnswer(socket, connection);
    response.once('close', () => {
      const isOpen = !socket.destroyed && !this.#lingering.has(socket);
      if (!request.complete && isOpen) discardBody(socket, request, this.#limits);
    });
  }

  findExchange(socket: Socket): Exchange | undefined {
    const exchange = this.#connections.get(socket)?.exchange;
    return exchange?.response.writableFinished === false ? exchange : undefined;
  }

  isAnswered(socket: Socket): boolean {
    return this.#lingering.has(socket);
  }

  end(socket: Socket): void {
    if (socket.destroyed || this.#lingering.has(socket)) return;
    const connection = this.#connections.get(socket);
    if (this.#isLingeringStopped || connection === undefined) return void socket.destroySoon();
    const request = connection.exchange?.request;
    connection.exchange = undefined;
    this.#lingering.add(socket);
    linger(socket, request?.complete === false ? request : undefined, this.#limits);
  }

  stopLingering(): void {
    this.#isLingeringStopped = true;
    for (const socket of this.#lingering) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  /** Node calls `destroySoon` after the last response, even while the client is still sending. */
  #lingerAfterAnswer(socket: Socket, connection: Connection): void {
    if (connection.isLingering) return;
    connection.isLingering = true;
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (this.#isLingeringStopped || connection.exchange?.request.complete !== false) destroySoon();
      else this.end(socket);
    };
  }

  #isStalled(socket: Socket, connection: Connection, now: number): boolean {
    // `readableLength` is not 0 when the service has not read the received data, so the client is not the slow side.
    if (socket.bytesRead === connection.received && connection.exchange?.request.readableLength === 0) {
      return now - connection.changedAt > this.#limits.bodyStallMs;
    }
    connection.received = socket.bytesRead;
    connection.changedAt = now;
    return false;
  }

  /** Ends the connections whose request body has stalled. */
  #endStalled(): void {
    const now = performance.now();
    for (const [socket, connection] of this.#connections) {
      const { exchange } = connection;
      if (exchange === undefined) continue;
      if (exchange.request.complete) {
        // Releases the last request of idle connections, of which there can be ten thousand.
        if (exchange.response.writableFinished) connection.exchange = undefined;
        continue;
      }
      if (!this.#isStalled(socket, connection, now)) continue;
      if (!exchange.response.headersSent && socket.writable)
        socket.write(formatRawResponse(408, 'The request body was not received in time.\n'));
      socket.destroySoon();
    }
  }
}

/** Returns whether the request has no body: a body must be announced. */
export function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';
}
