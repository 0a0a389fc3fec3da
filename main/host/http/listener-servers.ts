import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { PartLog } from '../log/log.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';
import { normalizeAddress } from './access.ts';
import { formatRawResponse } from './problem-reply.ts';
import { CertificateSelector, type Certificate } from './certificate.ts';
import { answerClientError } from './client-error.ts';
import type { Connections } from './connections.ts';
import type { ExchangeHandler } from './exchange-handler.ts';
import { answerHalfOpen } from './half-open.ts';
import { enableHttp2, type Http2 } from './http2.ts';
import type { ListenerLimits } from './limits.ts';

export interface ListenerServerOptions {
  /** Service id for log and metrics. */
  readonly service: string;
  /** Default `http`; `tcp` passes each connection to `handler.tcp` without the guard. */
  readonly protocol?: 'http' | 'tcp';
  /** Accepts only TLS, with this certificate. */
  readonly certificate?: Certificate | undefined;
  /** Accepts HTTP/2 over TLS as well. */
  readonly http2?: boolean;
  /** Connections of other addresses are closed before any byte is read. Default: all are accepted. */
  readonly accepts?: (remoteAddress: string) => boolean;
  readonly log: PartLog;
  readonly metrics: RequestMetrics;
}

/** Creates the servers of a listener, one per address. */
export class ListenerServers {
  readonly #options: ListenerServerOptions;
  readonly #limits: ListenerLimits;
  readonly #connections: Connections;
  readonly #exchanges: ExchangeHandler;
  readonly #http2: Http2[] = [];
  readonly #certificates: CertificateSelector | undefined;

  constructor(
    options: ListenerServerOptions,
    limits: ListenerLimits,
    connections: Connections,
    exchanges: ExchangeHandler,
  ) {
    this.#options = options;
    this.#limits = limits;
    this.#connections = connections;
    this.#exchanges = exchanges;
    this.#certificates = options.certificate && new CertificateSelector(options.certificate);
  }

  /** Replaces the certificates for host names. */
  replaceNamedCertificates(certificate: Certificate): void {
    this.#certificates?.replace(certificate);
  }

  /** Creates a server that does not listen yet. */
  create(): Server {
    const { service, log, protocol, accepts } = this.#options;
    const { maxConnections } = this.#limits;
    const isTcp = protocol === 'tcp';
    const server = isTcp
      ? createTcpServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
      : this.#createHttp();
    server.maxConnections = maxConnections;
    server.on('connection', (socket: Socket) => {
      if (accepts?.(normalizeAddress(socket.remoteAddress)) === false) socket.destroy();
      else this.#connections.add(socket);
    });
    // Registered after the address check, since in many protocols the server sends first.
    if (isTcp) server.on('connection', (socket: Socket) => this.#exchanges.handleConnection(socket));
    server.on('drop', () => log.warn('connection dropped: limit reached', { service, limit: maxConnections }));
    return server;
  }

  /** Ends the HTTP/2 connections with their last response. */
  closeHttp2(): void {
    for (const each of this.#http2) each.close();
  }

  #createHttp(): HttpServer {
    const { service, certificate, http2, metrics } = this.#options;
    const certificates = this.#certificates;
    const connections = this.#connections;
    const exchanges = this.#exchanges;
    const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
      exchanges.handleRequest(request, response);
    const server: HttpServer =
      certificate === undefined
        ? createHttpServer(this.#httpOptions(), onRequest)
        : createHttpsServer(
            {
              ...this.#httpOptions(),
              cert: certificate.cert,
              key: certificate.key,
              SNICallback: (serverName, callback) => callback(null, certificates?.find(serverName)),
              handshakeTimeout: this.#limits.headersTimeoutMs,
              ALPNProtocols: http2 === true ? ['h2', 'http/1.1'] : ['http/1.1'],
            },
            onRequest,
          );
    if (http2 === true && server instanceof HttpsServer) this.#http2.push(enableHttp2(server, this.#limits, onRequest));
    server.on('upgrade', (request, socket, head) => exchanges.handleUpgrade(request, socket, head));
    // Without a listener, Node.js closes the connection without a response.
    server.on('connect', (_request, socket) => {
      socket.on('error', () => undefined);
      socket.end(formatRawResponse(405, 'Homeport is no forward proxy.\n', { Allow: 'GET, HEAD, POST' }));
    });
    if (certificate === undefined) answerHalfOpen(server, connections);
    // Requests arrive on the TLS socket; the underlying connection is tracked separately.
    else server.on('secureConnection', (socket: Socket) => connections.add(socket));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = answerClientError(error, socket as Socket, connections);
      if (status !== undefined) metrics.request(service, 'other', status, 0);
    });
    return server;
  }

  #httpOptions(): ServerOptions {
    const limits = this.#limits;
    return {
      // The guard answers a missing Host header itself, in the service's own error format.
      requireHostHeader: false,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.max(50, Math.min(30_000, limits.headersTimeoutMs / 4)),
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.maxHeaderBytes,
      noDelay: true,
      // Detects streams whose client has disappeared without closing.
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      // Some clients offer `Upgrade: h2c` on every request and accept a plain response; the same applies to WebSocket
      // requests to a service without WebSocket.
      shouldUpgradeCallback: (request) =>
        request.headers.upgrade?.toLowerCase() === 'websocket' && this.#exchanges.acceptsUpgrades,
    };
  }
}
