import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { DispatchContext, ExternalListenerOptions, PortTarget } from '../../contracts/dispatch.ts';
import type { SharedPort } from '../../contracts/gateway/api.ts';
import { inUrl } from '../domain/names.ts';
import { inNetworks } from '../listeners/addresses.ts';
import type { Door, Doors } from '../listeners/doors.ts';
import type { GatewayMetrics } from '../proxy/metrics.ts';
import type { Settings } from '../settings.ts';

/** Connections that one machine has to one port: services have a limit for all, which nobody is to fill alone. */
const mostOfOne = 20;

interface SharedPortsParts {
  readonly context: Pick<DispatchContext, 'ports' | 'getConnectionHandler'>;
  /** Read at each use. */
  readonly settings: Readonly<Pick<Settings, 'sharedPorts' | 'portNetworks'>>;
  readonly metrics: Pick<GatewayMetrics, 'connection'>;
  /** Whether machines of this address are let in at all. */
  readonly accepts: (address: string) => boolean;
}

interface Connection {
  readonly port: string;
  readonly from: string;
}

/**
 * Ports that speak something else than HTTP, such as mail and git over SSH: a connection of a machine that may is handed to
 * the service as it is, so that the service sees who it is and holds it to its own limits.
 */
export class SharedPorts {
  readonly #parts: SharedPortsParts;
  readonly #open = new Map<Socket, Connection>();
  readonly #leaving = new AbortController();
  #networks: readonly string[] = [];
  #isNamed: (address: string) => boolean = () => false;

  constructor(parts: SharedPortsParts) {
    this.#parts = parts;
    // Each connection listens.
    setMaxListeners(0, this.#leaving.signal);
  }

  /** What may be shared. */
  #targets(): readonly PortTarget[] {
    return this.#parts.context.ports();
  }

  #isShared(id: string): boolean {
    return this.#parts.settings.sharedPorts.includes(id);
  }

  /** What is shared and exists. */
  get shared(): readonly PortTarget[] {
    return this.#targets().filter(({ id }) => this.#isShared(id));
  }

  /** How many connections services answer at the moment. */
  get open(): number {
    return this.#open.size;
  }

  /** Whether a machine may come to these ports. */
  accepts(address: string): boolean {
    const { portNetworks } = this.#parts.settings;
    if (portNetworks !== this.#networks) [this.#networks, this.#isNamed] = [portNetworks, inNetworks(portNetworks)];
    return this.#parts.accepts(address) && (portNetworks.length === 0 || this.#isNamed(address));
  }

  /** The doors that are to be open: at each address the port that the service has on this machine. */
  doors(addresses: readonly string[]): Door[] {
    return addresses.flatMap((address) =>
      this.shared.flatMap(({ id, port }) =>
        port === undefined ? [] : [{ kind: 'tcp' as const, address, port, service: id }],
      ),
    );
  }

  /** Hands what comes to the door of this port to its service. */
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

  /** One was cut off at the door of this port. */
  refused(id: string): void {
    this.#parts.metrics.connection(id, 'refused');
  }

  /** Ends the connections that would not be let in now. */
  review(): void {
    for (const [socket, { port, from }] of this.#open) {
      if (!this.#isShared(port) || !this.accepts(from)) socket.destroy();
    }
  }

  /** Has the services end what is open: what is idle at once, the rest when it is done. */
  close(): void {
    this.#leaving.abort();
  }

  /** As pages show them. */
  list(addresses: readonly string[], doors: Pick<Doors, 'port'>): SharedPort[] {
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
