import type { Socket } from 'node:net';
import { isOwnListener } from '../../../services/kit/own-listeners.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/** Both ends of a connection as text; the receiving end sees the same two addresses in reverse. */
type Ends = string;

/**
 * The connections that this process opened for requests of users, configurations and upstreams. Listeners that trust
 * programs on this computer ask here first: a request that Homeport itself sent is not one of another program.
 */
export class OwnConnections {
  readonly #open = new Set<Ends>();
  readonly #listeners: () => readonly string[];

  /** @param listeners returns the base addresses of all open listeners */
  constructor(listeners: () => readonly string[] = () => []) {
    this.#listeners = listeners;
  }

  /**
   * Remembers an established connection until it closes.
   *
   * @param allowed base address of the one listener of Homeport that the connection may lead to
   * @throws Problem `fetch.own_listener` (403) when it leads to a listener of Homeport; the connection is then closed.
   */
  admit(socket: Socket, host: string, allowed = ''): void {
    const listeners = this.#listeners().filter((listener) => listener !== allowed);
    if (isOwnListener(socket, listeners)) {
      socket.destroy();
      throw ownListener(host);
    }
    const ends = endsOf(socket.localAddress, socket.localPort, socket.remoteAddress, socket.remotePort);
    this.#open.add(ends);
    socket.once('close', () => this.#open.delete(ends));
  }

  /** Returns whether this process opened the other end of a connection that a listener accepted. */
  includes(accepted: Socket): boolean {
    if (this.#open.size === 0) return false;
    const { remoteAddress, remotePort, localAddress, localPort } = accepted;
    return this.#open.has(endsOf(remoteAddress, remotePort, localAddress, localPort));
  }
}

function endsOf(from: string | undefined, fromPort: number | undefined, to?: string, toPort?: number): Ends {
  return `${plain(from)} ${String(fromPort)} ${plain(to)} ${String(toPort)}`;
}

function plain(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
}

function ownListener(host: string): Problem {
  return new Problem(
    'fetch.own_listener',
    403,
    `${host.slice(0, 253)} leads back to Homeport itself, whose services such requests cannot reach.`,
    { retryable: false },
  );
}
