import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { DispatchContext, ExternalListenerOptions, PortTarget } from '../../contracts/dispatch.ts';
import type { SharedPort } from '../../contracts/gateway/api.ts';
import { inUrl } from '../domain/names.ts';
import { inNetworks } from '../listeners/addresses.ts';
import type { NetworkListener, NetworkListeners } from '../listeners/listener-manager.ts';
import type { GatewayMetrics } from '../proxy/metrics.ts';
import type { Settings } from '../settings.ts';

/** Maximum connections per computer and port, so that one computer cannot exhaust a service's limit. */
const mostOfOne = 20;

interface SharedPortsParts {
  readonly context: Pick<DispatchContext, 'ports' | 'getConnectionHandler'>;
  /** Read on each use. */
  readonly settings: Readonly<Pick<Settings, 'sharedPorts' | 'portNetworks'>>;
  readonly metrics: Pick<GatewayMetrics, 'connection'>;
  /** Returns true for addresses of admitted networks. */
  readonly accepts: (address: string) => boolean;
}

interface Connection {
  readonly port: string;
  readonly from: string;
}

/**
 * Shares TCP ports without HTTP, such as mail and Git over SSH. Sockets of admitted clients are handed to the service,
 * which sees the client address and applies its limits.
 */
export class SharedPorts {
  readonly #parts: SharedPortsParts;
  readonly #open = new Map<Socket, Connection>();
  readonly #leaving = new AbortController();
  #networks: readonly string[] = [];
  #isNamed: (address: string) => boolean = () => false;

  constructor(parts: SharedPortsParts) {
    this.#parts = parts;
    // Each connection adds a listener.
    setMaxListeners(0, this.#leaving.signal);
  }

  /** Ports that can be shared. */
  #targets(): readonly PortTarget[] {
    return this.#parts.context.ports();
  }

  #isShared(id: string): boolean {
    return this.#parts.settings.sharedPorts.includes(id);
  }

  /** Ports that are shared and exist. */
  get shared(): readonly PortTarget[] {
    return this.#targets().filter(({ id }) => this.#isShared(id));
  }

  /** Number of open connections. */
  get open(): number {
    return this.#open.size;
  }

  /** Returns true when a computer may connect. */
  accepts(address: string): boolean {
    const { portNetworks } = this.#parts.settings;
    if (portNetworks !== this.#networks) [this.#networks, this.#isNamed] = [portNetworks, inNetworks(portNetworks)];
    return this.#parts.accepts(address) && (portNetworks.length === 0 || this.#isNamed(address));
  }

  /** Returns the listeners to open: the port of the service at each address. */
  doors(addresses: readonly string[]): NetworkListener[] {
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
        const { context, metrics } = this.#parts;
        const from = socket.remoteAddress ?? '';
        const take = context.getConnectionHandler(id);
        const isTooMany = this.#count(id, from) >= mostOfOne;
        metrics.connection(id, take === undefined ? 'service_down' : isTooMany ? 'refused' : 'passed');
        if (take === undefined || isTooMany) return void socket.destroy();
        this.#open.set(socket, { port: id, from });
        socket.once('close', () => this.#open.delete(socket));
        take(socket, this.#leaving.signal);
      },
    };
  }

  #count(id: string, machine: string): number {
    let count = 0;
    for (const { port, from } of this.#open.values()) if (port === id && from === machine) count += 1;
    return count;
  }

  /** Counts a rejected connection. */
  refused(id: string): void {
    this.#parts.metrics.connection(id, 'refused');
  }

  /** Ends connections that are no longer permitted. */
  review(): void {
    for (const [socket, { port, from }] of this.#open) {
      if (!this.#isShared(port) || !this.accepts(from)) socket.destroy();
    }
  }

  /** Asks services to end connections: idle ones immediately, others when they complete. */
  close(): void {
    this.#leaving.abort();
  }

  /** Returns the ports as shown on pages. */
  list(addresses: readonly string[], doors: Pick<NetworkListeners, 'port'>): SharedPort[] {
    return this.#targets().map(({ id, service, title, scheme, port, whenShared = '' }) => ({
      ...{ id, service, title, meaning: whenShared },
      ...{ shared: this.#isShared(id), running: port !== undefined },
      addresses: addresses.flatMap((address) => {
        const open = this.#isShared(id) ? doors.port('tcp', address, id) : undefined;
        return open === undefined ? [] : [`${scheme}://${inUrl(address)}:${String(open)}`];
      }),
    }));
  }
}
