import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { DispatchContext, ExternalListenerOptions, PortTarget } from '../../contracts/dispatch.ts';
import type { SharedPort } from '../../contracts/gateway/api.ts';
import { formatForUrl } from '../domain/names.ts';
import { createNetworkMatcher } from '../listeners/addresses.ts';
import type { NetworkListener, ListenerManager } from '../listeners/listener-manager.ts';
import type { GatewayMetrics } from '../metrics.ts';
import type { Settings } from '../settings.ts';

/** Maximum connections per computer and port, so that one computer cannot exhaust a service's limit. */
const maxConnectionsPerClient = 20;

interface SharedPortsDependencies {
  readonly context: Pick<DispatchContext, 'accounts' | 'ports' | 'getConnectionHandler'>;
  /** Read on each use. */
  readonly settings: Readonly<Pick<Settings, 'sharedPorts' | 'portNetworks'>>;
  readonly metrics: Pick<GatewayMetrics, 'connection'>;
  /** Returns true for addresses of admitted networks. */
  readonly accepts: (address: string) => boolean;
}

interface Connection {
  readonly port: string;
  readonly clientAddress: string;
}

/**
 * Shares TCP ports without HTTP, such as mail and Git over SSH. Sockets of admitted clients are handed to the service,
 * which sees the client address and applies its limits.
 */
export class SharedPorts {
  readonly #deps: SharedPortsDependencies;
  readonly #connections = new Map<Socket, Connection>();
  readonly #shutdown = new AbortController();
  #networks: readonly string[] = [];
  #isInPortNetworks: (address: string) => boolean = () => false;

  constructor(deps: SharedPortsDependencies) {
    this.#deps = deps;
    // Each connection adds a listener.
    setMaxListeners(0, this.#shutdown.signal);
  }

  /** Ports that can be shared. */
  #targets(): readonly PortTarget[] {
    return this.#deps.context.ports();
  }

  #isShared(id: string): boolean {
    return this.#deps.settings.sharedPorts.includes(id);
  }

  /** Ports that are shared and exist. */
  get shared(): readonly PortTarget[] {
    return this.#targets().filter(({ id }) => this.#isShared(id));
  }

  /** Number of open connections. */
  get open(): number {
    return this.#connections.size;
  }

  /** Returns true when a computer may connect. */
  accepts(address: string): boolean {
    const { portNetworks } = this.#deps.settings;
    if (portNetworks !== this.#networks)
      [this.#networks, this.#isInPortNetworks] = [portNetworks, createNetworkMatcher(portNetworks)];
    return this.#deps.accepts(address) && (portNetworks.length === 0 || this.#isInPortNetworks(address));
  }

  /** Returns the listeners to open: the port of the service at each address. */
  planListeners(addresses: readonly string[]): NetworkListener[] {
    return addresses.flatMap((address) =>
      this.shared.flatMap(({ id, port }) =>
        port === undefined ? [] : [{ kind: 'tcp' as const, address, port, service: id }],
      ),
    );
  }

  /** Hands a connection to its service. */
  handler(id: string): ExternalListenerOptions['handler'] {
    return {
      tcp: (socket) => {
        const { context, metrics } = this.#deps;
        const from = socket.remoteAddress ?? '';
        const handleConnection = context.getConnectionHandler(id);
        const isOverLimit = this.#count(id, from) >= maxConnectionsPerClient;
        metrics.connection(id, handleConnection === undefined ? 'service_down' : isOverLimit ? 'refused' : 'passed');
        if (isOverLimit) {
          const detail = `connection to ${id}`;
          context.accounts.record({ event: 'rate_limited', address: from, service: 'gateway', detail });
        }
        if (handleConnection === undefined || isOverLimit) return void socket.destroy();
        this.#connections.set(socket, { port: id, clientAddress: from });
        socket.once('close', () => this.#connections.delete(socket));
        handleConnection(socket, this.#shutdown.signal);
      },
    };
  }

  #count(id: string, clientAddress: string): number {
    let count = 0;
    for (const { port, clientAddress: from } of this.#connections.values())
      if (port === id && from === clientAddress) count += 1;
    return count;
  }

  /** Counts a rejected connection. */
  countRefused(id: string): void {
    this.#deps.metrics.connection(id, 'refused');
  }

  /** Ends connections that are no longer permitted. */
  endRevoked(): void {
    for (const [socket, { port, clientAddress: from }] of this.#connections) {
      if (!this.#isShared(port) || !this.accepts(from)) socket.destroy();
    }
  }

  /** Asks services to end connections: idle ones immediately, others when they complete. */
  close(): void {
    this.#shutdown.abort();
  }

  /** Returns the ports as shown on pages. */
  list(addresses: readonly string[], listeners: Pick<ListenerManager, 'port'>): SharedPort[] {
    return this.#targets().map(({ id, service, title, scheme, port, whenShared = '' }) => ({
      id,
      service,
      title,
      meaning: whenShared,
      shared: this.#isShared(id),
      running: port !== undefined,
      addresses: addresses.flatMap((address) => {
        const openPort = this.#isShared(id) ? listeners.port('tcp', address, id) : undefined;
        return openPort === undefined ? [] : [`${scheme}://${formatForUrl(address)}:${String(openPort)}`];
      }),
    }));
  }
}
