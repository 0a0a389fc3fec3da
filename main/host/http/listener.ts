import { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { DispatchHandlers } from '../../../services/contracts/dispatch.ts';
import type { ListenerHandler } from '../../../services/contracts/listeners.ts';
import { bindAll } from './bind.ts';
import type { Certificate } from './certificate.ts';
import { watchConnections, type Connections } from './connections.ts';
import { drain } from './drain.ts';
import { ExchangeHandler, type ExchangeOptions } from './exchange-handler.ts';
import type { GuardPolicy } from './guard.ts';
import { defaultLimits, type ListenerLimits } from './limits.ts';
import { ListenerServers, type ListenerServerOptions } from './listener-servers.ts';

export interface ListenerOptions extends ExchangeOptions, ListenerServerOptions {
  /** 0: any port that is free on all hosts. */
  readonly port: number;
  /** Default 127.0.0.1 and ::1. */
  readonly hosts?: readonly string[];
  readonly limits?: Partial<ListenerLimits>;
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
 * @throws PortTaken (409); PortForbidden (403); Problem `listener.no_address` (500).
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { service, log, port, hosts = ['127.0.0.1', '::1'], avoidPorts = [] } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const connections = watchConnections(limits);
  const exchanges = new ExchangeHandler(options, connections);
  const factory = new ListenerServers(options, limits, connections, exchanges);
  const bound = await bindAll(() => factory.create(), { hosts, port, log, avoidPorts }).catch((error: unknown) => {
    connections.destroyAll();
    connections[Symbol.dispose]();
    throw error;
  });
  for (const server of bound.servers) server.on('error', (error) => log.error('listener failed', { service, error }));
  return new OpenListener(bound, connections, exchanges, factory);
}

/** Listener whose servers listen on their addresses. */
class OpenListener implements Listener {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly #servers: readonly Server[];
  readonly #connections: Connections;
  readonly #exchanges: ExchangeHandler;
  readonly #factory: Pick<ListenerServers, 'closeHttp2' | 'replaceNamedCertificates'>;
  /** Connections that belong to another server. They are awaited here, because no server of this listener does. */
  readonly #handedOver = new Map<Socket, Promise<unknown>>();
  #closed: Promise<void> | undefined;

  constructor(
    { servers, port }: { readonly servers: readonly Server[]; readonly port: number },
    connections: Connections,
    exchanges: ExchangeHandler,
    factory: Pick<ListenerServers, 'closeHttp2' | 'replaceNamedCertificates'>,
  ) {
    this.port = port;
    this.addresses = servers.map((server) => formatAddress(server.address() as AddressInfo));
    this.#servers = servers;
    this.#connections = connections;
    this.#exchanges = exchanges;
    this.#factory = factory;
  }

  running(begunBefore: number): number {
    return this.#exchanges.running.count(begunBefore);
  }

  createDispatchHandlers(hosts: readonly string[]): DispatchHandlers {
    return this.#exchanges.createDispatchHandlers(hosts);
  }

  handOverConnection(socket: Socket, leaving?: AbortSignal): void {
    if (!this.#exchanges.isDraining && !socket.destroyed) {
      this.#connections.add(socket);
      const closed = new Promise((resolve) => void socket.once('close', resolve));
      this.#handedOver.set(socket, closed);
      socket.once('close', () => this.#handedOver.delete(socket));
    }
    this.#exchanges.handleConnection(socket, leaving);
  }

  replaceHandler(handler: ListenerHandler | undefined, guard?: GuardPolicy): void {
    this.#exchanges.replaceHandler(handler, guard);
  }

  replaceCertificate(certificate: Certificate): void {
    const { cert, key } = certificate;
    for (const server of this.#servers) {
      if (server instanceof HttpsServer) server.setSecureContext({ cert, key });
    }
    this.#factory.replaceNamedCertificates(certificate);
  }

  close({ timeoutMs = 5000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#exchanges.startDraining();
    this.#factory.closeHttp2();
    this.#connections.stopLingering();
    this.#closed ??= drain(
      this.#servers,
      timeoutMs,
      () => this.#connections.destroyAll(),
      this.#handedOver.values(),
    ).finally(() => this.#connections[Symbol.dispose]());
    return this.#closed;
  }
}

function formatAddress({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}
