import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DispatchHandlers } from '../../../services/contracts/dispatch.ts';
import { markGatewayRequest } from '../../../services/contracts/gateway.ts';
import type { ListenerHandler } from '../../../services/contracts/listeners.ts';
import { toAbortedProblem } from '../../../services/kit/disconnect-signal.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import type { PartLog } from '../log/log.ts';
import type { RequestMetrics } from '../metrics/metrics.ts';
import { recordRequest, normalizeAddress } from './access.ts';
import { bindAll } from './bind.ts';
import type { Certificate } from './certificate.ts';
import { answerClientError } from './client-error.ts';
import { watchConnections } from './connections.ts';
import { drain } from './drain.ts';
import { createGuard, type Guard, type GuardPolicy } from './guard.ts';
import { answerHalfOpen } from './half-open.ts';
import { enableHttp2, type Http2 } from './http2.ts';
import { defaultLimits, type ListenerLimits } from './limits.ts';
import { toProblem } from './problem-reply.ts';
import { closeAfterProblem, buildNotRunningProblem, createResponseOnSocket, sendRefusal } from './refusal.ts';
import { RunningRequests } from './running.ts';

export interface ListenerOptions {
  /** Service id for log and metrics. */
  readonly service: string;
  /** 0: any port that is free on all hosts. */
  readonly port: number;
  /** Default 127.0.0.1 and ::1. */
  readonly hosts?: readonly string[];
  /** Default `http`; `tcp` passes each connection to `handler.tcp` without the guard. */
  readonly protocol?: 'http' | 'tcp';
  /** Accepts only TLS, with this certificate. */
  readonly certificate?: Certificate | undefined;
  /** Accepts HTTP/2 over TLS as well. */
  readonly http2?: boolean;
  /** Connections of other addresses are closed before any byte is read. Default: all are accepted. */
  readonly accepts?: (remoteAddress: string) => boolean;
  /** Undefined while the service is not running. */
  readonly handler: ListenerHandler | undefined;
  readonly guard: GuardPolicy;
  readonly log: PartLog;
  readonly metrics: RequestMetrics;
  /** Measures the synchronous part of each request. */
  readonly loop?: LoopWatch;
  readonly limits?: Partial<ListenerLimits>;
  /** Level of the access log. Default `debug`. */
  readonly accessLog?: 'debug' | 'info';
  /** Ports of other services, which are never suggested in place of a taken port. */
  readonly avoidPorts?: readonly number[];
}

export interface Listener {
  /**
   * Returns handlers for requests that arrived at another listener of this process with the host names `hosts`, with
   * the same guard, access log and metrics.
   */
  createDispatchHandlers(hosts: readonly string[]): DispatchHandlers;
  /** Takes a connection that arrived at another listener of this process, for protocols other than HTTP. */
  handOverConnection(socket: Socket, leaving?: AbortSignal): void;
  /** See {@link RunningRequests.count}. */
  running(begunBefore: number): number;
  readonly port: number;
  /** `127.0.0.1:2586`, `[::1]:2586`. */
  readonly addresses: readonly string[];
  /**
   * Replaces the handler from the next request on. Without a handler, requests are answered with 503; a given guard
   * replaces the former one.
   */
  replaceHandler(handler: ListenerHandler | undefined, guard?: GuardPolicy): void;
  /** Replaces the certificate for new connections. */
  replaceCertificate(certificate: Certificate): void;
  /**
   * Stops accepting, lets running requests complete, ends idle connections and destroys the rest after the timeout
   * (default 5,000 ms). A service ends its own streams before.
   */
  close(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Opens a port of a service with guard, limits, access log and request metrics.
 * @throws PortTaken (409); Problem `listener.port_forbidden` (403), `listener.no_address` (500).
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { service, log, loop, metrics, accessLog = 'debug', hosts = ['127.0.0.1', '::1'] } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const access = { service, log, metrics, level: accessLog };
  const connections = watchConnections(limits);
  const running = new RunningRequests();
  let { handler } = options;
  let refuse = options.guard.refuse ?? sendRefusal;
  let { guard: policy } = options;
  let guard = createGuard(policy);
  let draining = false;
  /** Cached by the caller's host names, since it is requested for each request. */
  let dispatchHandlers:
    { readonly hosts: readonly string[]; readonly policy: GuardPolicy; readonly to: DispatchHandlers } | undefined;

  const fail = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    const problem = toProblem(toAbortedProblem(error, request), log, { service, method: request.method });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    try {
      refuse(request, response, problem);
    } catch (rendering) {
      log.error('refusal rendering failed', { service, error: rendering });
      response.destroy();
    }
  };

  const answer = (request: IncomingMessage, response: ServerResponse, by: Guard): void => {
    if (connections.isAnswered(request.socket)) return void request.destroy();
    connections.startExchange({ request, response });
    running.add(response);
    // A write after a disconnect emits an error on the response, which would end the process when unhandled.
    response.on('error', ignoreError);
    recordRequest(request, response, access);
    if (draining) response.setHeader('Connection', 'close');
    try {
      const problem = by.check(request) ?? (handler?.http === undefined ? buildNotRunningProblem() : undefined);
      if (problem !== undefined) refuse(request, response, closeAfterProblem(response, request, problem));
      else if (!by.answerCors(request, response)) {
        const start = loop?.begin(service, 'a request') ?? 0;
        const result: unknown = handler?.http?.(request, response);
        loop?.end(service, 'a request', start);
        if (result instanceof Promise) result.catch((error: unknown) => fail(request, response, error));
      }
    } catch (error) {
      fail(request, response, error);
    }
  };

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => answer(request, response, guard);

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer, by: Guard): void => {
    if (connections.isAnswered(request.socket)) return void socket.destroy();
    socket.on('error', ignoreError);
    const start = performance.now();
    const problem =
      by.checkUpgrade(request) ?? (handler?.upgrade === undefined || draining ? buildNotRunningProblem() : undefined);
    if (problem !== undefined) {
      refuse(request, createResponseOnSocket(socket as Socket, request, access), problem);
      return;
    }
    socket.once('close', () => {
      const seconds = (performance.now() - start) / 1000;
      metrics.request(service, 'GET', 101, seconds);
      log[accessLog]('websocket closed', { seconds: Math.round(seconds) });
    });
    try {
      handler?.upgrade?.(request, socket, head);
    } catch (error) {
      toProblem(error, log, { service });
      socket.destroy();
    }
  };

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    upgrade(request, socket, head, guard);

  const onTcp = (socket: Socket, leaving?: AbortSignal): void => {
    if (socket.destroyed) return;
    socket.on('error', ignoreError);
    if (handler?.tcp === undefined || draining) return void socket.destroy();
    running.add(socket);
    try {
      handler.tcp(socket, leaving);
    } catch (error) {
      log.error('connection handover failed', { service, error });
      socket.destroy();
    }
  };

  const http2: Http2[] = [];

  const makeHttp = (): Server => {
    const { certificate } = options;
    const serverOptions: ServerOptions = {
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
        request.headers.upgrade?.toLowerCase() === 'websocket' && handler?.upgrade !== undefined,
    };
    const server: Server =
      certificate === undefined
        ? createHttpServer(serverOptions, onRequest)
        : createHttpsServer(
            {
              ...serverOptions,
              ...certificate,
              handshakeTimeout: limits.headersTimeoutMs,
              ALPNProtocols: options.http2 === true ? ['h2', 'http/1.1'] : ['http/1.1'],
            },
            onRequest,
          );
    if (options.http2 === true && server instanceof HttpsServer) http2.push(enableHttp2(server, limits, onRequest));
    server.on('upgrade', onUpgrade);
    if (certificate === undefined) answerHalfOpen(server, connections);
    // Requests arrive on the TLS socket; the underlying connection is tracked separately.
    else server.on('secureConnection', (socket: Socket) => connections.add(socket));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = answerClientError(error, socket as Socket, connections);
      if (status !== undefined) metrics.request(service, 'other', status, 0);
    });
    return server;
  };

  const make = (): TcpServer => {
    const isTcp = options.protocol === 'tcp';
    const server = isTcp
      ? createTcpServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
      : makeHttp();
    server.maxConnections = limits.maxConnections;
    server.on('connection', (socket: Socket) => {
      if (options.accepts?.(normalizeAddress(socket.remoteAddress)) === false) socket.destroy();
      else connections.add(socket);
    });
    // Registered after the address check, since in many protocols the server sends first.
    if (isTcp) server.on('connection', (socket: Socket) => onTcp(socket));
    server.on('drop', () => log.warn('connection dropped: limit reached', { service, limit: limits.maxConnections }));
    return server;
  };

  const { servers, port } = await bindAll(make, {
    hosts,
    port: options.port,
    log,
    avoidPorts: options.avoidPorts ?? [],
  }).catch((error: unknown) => {
    connections.destroyAll();
    connections[Symbol.dispose]();
    throw error;
  });
  for (const server of servers) server.on('error', (error) => log.error('listener failed', { service, error }));
  let closed: Promise<void> | undefined;
  /** These connections belong to no server of this listener, so none would wait for them. */
  const handedOver = new Map<Socket, Promise<unknown>>();

  return {
    port,
    running: (begunBefore) => running.count(begunBefore),
    addresses: servers.map((server) => formatAddress(server.address() as AddressInfo)),
    createDispatchHandlers(hosts) {
      if (dispatchHandlers?.hosts === hosts && dispatchHandlers.policy === policy) return dispatchHandlers.to;
      const by = createGuard({ ...policy, hosts: [...(policy.hosts ?? []), ...hosts] });
      const to: DispatchHandlers = {
        request(request, response) {
          markGatewayRequest(request);
          // Two listeners watch its end, in addition to those of the service.
          response.setMaxListeners(20);
          answer(request, response, by);
        },
        upgrade(request, socket, head) {
          markGatewayRequest(request);
          upgrade(request, socket, head, by);
        },
      };
      dispatchHandlers = { hosts, policy, to };
      return to;
    },
    handOverConnection(socket, leaving) {
      if (!draining && !socket.destroyed) {
        connections.add(socket);
        const closed = new Promise((resolve) => void socket.once('close', resolve));
        handedOver.set(socket, closed);
        socket.once('close', () => handedOver.delete(socket));
      }
      onTcp(socket, leaving);
    },
    replaceHandler(next, renewed) {
      handler = next;
      if (renewed === undefined) return;
      policy = renewed;
      guard = createGuard(policy);
      refuse = policy.refuse ?? sendRefusal;
    },
    replaceCertificate(certificate) {
      for (const server of servers) if (server instanceof HttpsServer) server.setSecureContext({ ...certificate });
    },
    close({ timeoutMs = 5000 } = {}) {
      draining = true;
      for (const each of http2) each.close();
      connections.stopLingering();
      closed ??= drain(servers, timeoutMs, () => connections.destroyAll(), handedOver.values()).finally(() =>
        connections[Symbol.dispose](),
      );
      return closed;
    },
  };
}

/** Errors are handled by the `close` event of the connection. */
function ignoreError(): void {
  return undefined;
}

function formatAddress({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}
