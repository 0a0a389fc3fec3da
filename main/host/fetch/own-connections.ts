import * as m from '#messages/host-problems';
import type { Socket } from 'node:net';
import { isOwnListener } from '../../../services/kit/own-listeners.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/** Both ends of a connection as text; the other side sees the same two addresses in reverse. */
type Endpoints = string;

/**
 * Connections that this process opened for requests of users, configurations and upstream services. Listeners that
 * trust programs on this computer check them: a request of Homeport itself does not come from another program.
 */
export class OwnConnections {
  readonly #open = new Set<Endpoints>();
  readonly #listeners: () => readonly string[];

  /** @param listeners returns the base addresses of all open listeners */
  constructor(listeners: () => readonly string[] = () => []) {
    this.#listeners = listeners;
  }

  /**
   * Registers an established connection until it closes.
   * @param allowed base address of the one listener of Homeport that the connection may lead to
   * @throws Problem `fetch.own_listener` (403) when it leads to a listener of Homeport; the connection is then
   * closed.
   */
  admit(socket: Socket, host: string, allowed = ''): void {
    const listeners = this.#listeners().filter((listener) => listener !== allowed);
    if (isOwnListener(socket, listeners)) {
      socket.destroy();
      throw ownListener(host);
    }
    const ends = getEndpoints(socket.localAddress, socket.localPort, socket.remoteAddress, socket.remotePort);
    this.#open.add(ends);
    socket.once('close', () => this.#open.delete(ends));
  }

  /** Returns whether this process opened the other end of a connection that a listener accepted. */
  includes(accepted: Socket): boolean {
    if (this.#open.size === 0) return false;
    const { remoteAddress, remotePort, localAddress, localPort } = accepted;
    return this.#open.has(getEndpoints(remoteAddress, remotePort, localAddress, localPort));
  }
}

function getEndpoints(from: string | undefined, fromPort: number | undefined, to?: string, toPort?: number): Endpoints {
  return `${normalizeAddress(from)} ${String(fromPort)} ${normalizeAddress(to)} ${String(toPort)}`;
}

function normalizeAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}

function ownListener(host: string): Problem {
  return new Problem('fetch.own_listener', 403, m.homeportAddress({ host: host.slice(0, 253) }), { retryable: false });
}
