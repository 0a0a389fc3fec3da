import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { isGatewayRequest } from '../../../services/contracts/gateway.ts';
import { getForkedProcessIds } from '../../../services/kit/forked-processes.ts';
import { isAddressOfThisComputer } from '../../../services/kit/own-listeners.ts';
import { findOpener } from '../platform/connection-owner.ts';
import type { OwnConnections } from '../fetch/own-connections.ts';
import { getRemoteAddress } from '../http/access.ts';

/** Recognizes requests of other programs on this computer. */
export class LocalPrograms {
  readonly #own: OwnConnections;
  readonly #children: ReadonlySet<number>;
  /** The result for a connection is constant, and asking the system takes milliseconds. */
  readonly #results = new WeakMap<Socket, Promise<boolean>>();

  /**
   * @param ownConnections connections that this process opened itself
   * @param children process ids of the programs that the host started
   */
  constructor(ownConnections: OwnConnections, children: ReadonlySet<number>) {
    this.#own = ownConnections;
    this.#children = children;
  }

  /** See `Context.isLocalProgram`. */
  includes(request: IncomingMessage): Promise<boolean> {
    if (isGatewayRequest(request)) return Promise.resolve(false);
    const { socket } = request;
    const storedResult = this.#results.get(socket) ?? this.#decide(socket, getRemoteAddress(request));
    this.#results.set(socket, storedResult);
    return storedResult;
  }

  async #decide(socket: Socket, address: string): Promise<boolean> {
    if (!isAddressOfThisComputer(address) || this.#own.includes(socket)) return false;
    const { remotePort, localPort } = socket;
    if (remotePort === undefined || localPort === undefined) return false;
    const started = [...this.#children, ...getForkedProcessIds()];
    // When the system does not report the program, it may be a child that sent a request and closed the connection.
    return (await findOpener(started, { clientPort: remotePort, serverPort: localPort })) === 'other';
  }
}
