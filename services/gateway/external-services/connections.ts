import * as m from '#messages/gateway-problems';
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Duplex } from 'node:stream';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { stripMappedPrefix } from '../domain/names.ts';
import type { Upstream } from '../domain/upstream.ts';
import { isUnreachableHost } from './unreachable-host.ts';
import { repairResponses, type ResponseRepair } from './response-repair.ts';

type ConnectionContext = Pick<Context, 'addresses' | 'connect'>;

const agentOptions: AgentOptions = { keepAlive: true, keepAliveMsecs: 15_000, maxFreeSockets: 32, scheduling: 'lifo' };

/** Agent for one upstream with persistent connections; each target address is verified before data is sent. */
export class UpstreamConnections extends Agent {
  readonly #context: ConnectionContext;
  readonly #upstream: Upstream;
  readonly #verifiesTls: boolean;
  readonly #repairs = new WeakMap<Duplex, ResponseRepair>();

  constructor(context: ConnectionContext, upstream: Upstream, verify: boolean) {
    super(agentOptions);
    this.#context = context;
    this.#upstream = upstream;
    this.#verifiesTls = verify;
  }

  override createConnection(
    _options: ClientRequestArgs,
    onOpen?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.open().then(
      (socket) => {
        this.#repairs.set(socket, repairResponses(socket));
        onOpen?.(null, socket);
      },
      (error: unknown) => (onOpen as ((error: Error) => void) | undefined)?.(toError(error)),
    );
    return undefined;
  }

  override keepSocketAlive(socket: Duplex): void {
    this.#repairs.get(socket)?.expectHead();
    // The return value, which the types of Node.js omit, is true when the connection is kept.
    return super.keepSocketAlive(socket);
  }

  /** Opens a connection to a verified address. */
  async open(): Promise<Duplex> {
    const { host, port, protocol } = this.#upstream;
    if (isIP(host) !== 0) this.#requireAllowed(host);
    const { socket, address } = await this.#context.connect({
      host,
      port,
      trust: 'owner',
      ...(protocol === 'https' ? { tls: { verify: this.#verifiesTls, alpn: ['http/1.1'] } } : {}),
    });
    try {
      this.#requireAllowed(address);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return socket.setNoDelay(true);
  }

  /** @throws Problem `gateway.upstream_refused` (502) */
  #requireAllowed(address: string): void {
    const { port } = this.#upstream;
    const createRefusal = (text: () => string): Problem => new Problem('gateway.upstream_refused', 502, text);
    if (isUnreachableHost(address)) throw createRefusal(m.externalAddressUnusable);
    const isOwnPort = this.#context.addresses().some((each) => getPort(each) === String(port));
    if (isOwnPort && isThisComputer(address)) throw createRefusal(m.externalAddressIsHomeport);
  }
}

/** Default port of an address. */
function getPort(address: string): string | undefined {
  const url = URL.parse(address);
  return url === null ? undefined : url.port || (url.protocol === 'https:' ? '443' : '80');
}

function isThisComputer(address: string): boolean {
  const plainAddress = stripMappedPrefix(address);
  if (plainAddress.startsWith('127.') || plainAddress === '::1') return true;
  return Object.values(networkInterfaces()).some(
    (list) => list?.some((each) => each.address === plainAddress) === true,
  );
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
